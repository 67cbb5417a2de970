package transcript

import (
	"bytes"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// parser turns lines into records; its buffers and caches live for one file.
type parser struct {
	x                        *Index
	s                        jsonspan.Scanner
	session, message, prompt cached
	model, attachName        cached
	version                  cached

	// Of the record being parsed:
	rec        Record
	seen       uint32        // identity keys met
	all        tally         // members that an API record is charged for
	system     tally         // members that a system record is charged for
	attach     tokens.Weight // of the attachment object
	attachType Sym
	stdout     jsonspan.Span // toolUseResult.stdout
	output     jsonspan.Span // the first tool result's text
	causes     Causes
}

// tally adds up the weight of an object that holds some of the members.
type tally struct {
	weight  tokens.Weight
	members tokens.Weight
}

func (t *tally) add(w tokens.Weight) {
	t.weight += w
	t.members++
}

// object is the weight of the object written with these members only.
func (t tally) object() tokens.Weight {
	return t.weight + (2+max(0, t.members-1))*tokens.ASCII
}

// record parses the object at the scanner's position into p.rec and appends its
// tools; it stops after the closing brace.
func (p *parser) record() *jsonspan.Error {
	p.rec = Record{tools: int32(len(p.x.Tools)), refs: int32(len(p.x.refs))}
	p.seen, p.all, p.system, p.attach, p.attachType = 0, tally{}, tally{}, 0, 0
	p.stdout, p.output, p.causes = jsonspan.Span{}, jsonspan.Span{}, Causes{}
	m := p.s.Members()
	for {
		before := p.s.Weight
		key, ok, err := m.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		// Next has passed a brace or a comma, the key and the colon.
		if err := p.member(p.key(key), p.s.Weight-before-tokens.ASCII); err != nil {
			return err
		}
	}
	p.finish()
	return nil
}

// member passes the value of one member of the record and charges its weight,
// that of its key included.
func (p *parser) member(name string, key tokens.Weight) *jsonspan.Error {
	w := p.s.Weight
	object := p.s.Peek() == '{'
	charged, err := p.field(name)
	if err != nil {
		return err
	}
	w = p.s.Weight - w
	if name == "attachment" {
		p.attach = 0
		if object {
			p.attach = w
		}
	}
	w += key
	if charged {
		p.all.add(w)
	}
	switch name {
	case "subtype", "content", "error", "compactMetadata":
		p.system.add(w)
	}
	return nil
}

// key returns a member's name, without allocating for the plain spelling.
func (p *parser) key(key jsonspan.Span) string {
	b := key.Of(p.s.Data)
	if key.Escaped {
		return jsonspan.Unquote(b)
	}
	return known(b)
}

// field reads one top-level member; charged says whether an API record pays for
// it.
func (p *parser) field(name string) (charged bool, err *jsonspan.Error) {
	r := &p.rec
	switch name {
	case "uuid":
		return false, p.uuid()
	case "parentUuid":
		return false, p.parent()
	case "sessionId":
		p.once(2)
		r.Session, err = p.repeated(&p.session)
		return false, err
	case "timestamp":
		return false, p.timestamp()
	case "cwd":
		return false, p.skip()
	case "version":
		return false, p.versionText()
	case "type":
		p.once(3)
		return true, p.typ()
	case "message":
		p.once(4)
		return true, p.messageObject()
	case "leafUuid":
		err = p.leaf()
	case "explicit":
		err = p.flag(Explicit)
	case "subtype":
		r.Subtype, err = p.sym()
	case "isSidechain":
		err = p.flag(Sidechain)
	case "isMeta":
		err = p.flag(Meta)
	case "isCompactSummary":
		err = p.flag(CompactMark)
	case "isApiErrorMessage":
		err = p.flag(APIErrorMark)
	case "sourceToolAssistantUUID":
		r.Source, err = p.sym()
	case "promptId":
		r.Prompt, err = p.repeated(&p.prompt)
	case "messageId", "snapshotMessageId", "sourceUuid", "sourceUUID":
		err = p.ref()
	case "attachment":
		err = p.attachment()
	case "compactMetadata":
		err = p.metadata()
	case "error":
		err = p.errorValue()
	case "toolUseResult":
		err = p.toolUseResult()
	case "data":
		err = p.progressData()
	default:
		err = p.skip()
	}
	return true, err
}

// finish settles what depends on several members.
func (p *parser) finish() {
	r := &p.rec
	switch {
	case r.API():
		r.Tokens = charge(p.all.object())
	case r.Type == Attachment && p.attach > 0:
		r.Tokens = charge(p.attach)
	case r.Type == System:
		r.Tokens = charge(p.system.object())
	}
	if r.Type == Attachment {
		r.Name = p.attachType
	}
	if p.s.LoneSurrogate > 0 {
		r.Flags |= LoneSurrogate
		r.surrogate = int32(p.s.LoneSurrogate)
	}
	if p.s.BadUTF8 > 0 {
		r.Flags |= BadUTF8
	}
}

func charge(w tokens.Weight) int32 { return int32(w.Tokens() + tokens.PerRecord) }

// count adds the record's share of the causes to the file's, once its line is
// known.
func (p *parser) count() {
	c, t := &p.causes, &p.x.Causes
	t.ToolUseResult += c.ToolUseResult
	t.Images += c.Images
	t.Signatures += c.Signatures
	if p.rec.Type == Progress {
		t.ProgressPayload += c.ProgressPayload
		t.NormalizedCopy += c.NormalizedCopy
	}
	if p.rec.Type == Snapshot {
		t.Snapshots += int64(p.rec.Len)
	}
	out := p.stdout.Of(p.s.Data)
	if len(out) > 0 && bytes.Equal(out, p.output.Of(p.s.Data)) {
		n := int64(jsonspan.TextLen(out))
		t.DoubleOutput += n
		if n > t.doubleMax {
			t.doubleMax, t.DoubleLine = n, int(p.rec.Line)
		}
	}
}
