package sessiontest

// The records of a generated session. Each begins at the current leaf and
// becomes the leaf.

const (
	genVersion = "2.1.40"
	genModel   = "claude-opus-4-6"
)

// begin opens a record below the leaf; own are its first members.
func (g *generator) begin(own string) {
	g.str(`{"parentUuid":`)
	if g.leaf == "" {
		g.str(`null`)
	} else {
		g.str(`"`, g.leaf, `"`)
	}
	g.str(`,"isSidechain":false,"userType":"external","cwd":"`, workDir, `","sessionId":"`, g.stats.SessionID)
	g.str(`","version":"`, genVersion, `","gitBranch":"main",`, own)
}

// end closes a record under a new uuid.
func (g *generator) end() string { return g.endAs(g.id()) }

func (g *generator) endAs(uuid string) string {
	g.str(`,"uuid":"`, uuid, `","timestamp":"`, g.stamp(), "\"}\n")
	g.leaf = uuid
	g.stats.Chain++
	g.stats.Records++
	return uuid
}

// row closes a record that has no uuid and no place in the tree.
func (g *generator) row(open string) {
	g.str(open, `,"sessionId":"`, g.stats.SessionID, "\"}\n")
	g.stats.Records++
}

func (g *generator) pointer() {
	g.str(`{"type":"last-prompt","lastPrompt":"`)
	g.prose(1)
	g.str(`","leafUuid":"`, g.leaf)
	g.row(`"`)
}

// prompt writes the file history row and the prompt; the prompt id comes back.
func (g *generator) prompt() string {
	uuid, id := g.id(), g.id()
	g.snapshot(uuid)
	g.begin(`"type":"user","permissionMode":"default","promptId":"`)
	g.str(id, `","message":{"role":"user","content":"`)
	g.prose(g.lengthOf(promptSize, 0.9, 4000))
	g.str(`"}`)
	g.endAs(uuid)
	return id
}

func (g *generator) snapshot(message string) {
	g.str(`{"type":"file-history-snapshot","messageId":"`, message, `","snapshot":{"messageId":"`, message)
	g.str(`","timestamp":"`, g.stamp(), `","trackedFileBackups":{`)
	first := g.rng.IntN(len(files))
	for i := range 2 {
		if i > 0 {
			g.str(`,`)
		}
		g.str(`"`, files[(first+i)%len(files)], `":{"backupFileName":"`)
		g.letters(16)
		g.str(`@v1","version":1,"backupTime":"`, g.stamp(), `"}`)
	}
	g.str("}},\"isSnapshotUpdate\":false}\n")
	g.stats.Records++
}

// fragment opens one content block of the message; the block's type follows.
func (g *generator) fragment(msg string) {
	g.begin(`"message":{"model":"` + genModel + `","id":"`)
	g.str(msg, `","type":"message","role":"assistant","content":[{"type":`)
}

func (g *generator) endFragment(closing, stop string) string {
	g.str(closing, `}],"stop_reason":`, stop, `,"stop_sequence":null,"usage":{"input_tokens":`)
	g.num(1 + g.rng.IntN(20))
	g.str(`,"cache_creation_input_tokens":`)
	g.num(g.rng.IntN(9000))
	g.str(`,"cache_read_input_tokens":`)
	g.num(10000 + g.rng.IntN(140000))
	g.str(`,"output_tokens":`)
	g.num(1 + g.rng.IntN(900))
	g.str(`,"service_tier":"standard"}},"requestId":"`, g.label("req_011"), `","type":"assistant"`)
	return g.end()
}

// call writes a tool call and its result. The output stands twice in the
// result record, once for the model and once for the program, as the client
// writes it.
func (g *generator) call(msg, tool, prompt string) {
	file := workDir + "/" + files[g.rng.IntN(len(files))]
	kind := toolKinds[g.rng.IntN(len(toolKinds))]
	g.body = g.words.appendCode(g.body[:0], g.rng, g.lengthOf(resultSize, 1.1, 60000))

	g.fragment(msg)
	g.str(`"tool_use","id":"`, tool, `","name":"`, kind.name, `","input":{`)
	kind.input(g, file)
	use := g.endFragment(`}`, `"tool_use"`)

	g.begin(`"type":"user","promptId":"`)
	g.str(prompt, `","message":{"role":"user","content":[{"tool_use_id":"`, tool, `","type":"tool_result","content":"`)
	g.bytes(g.body)
	g.str(`","is_error":false}]},"toolUseResult":{`)
	kind.result(g, file)
	g.str(`},"sourceToolAssistantUUID":"`, use, `"`)
	g.end()
}

func (g *generator) hook(event, tool string) {
	g.begin(`"attachment":{"type":"hook_success","hookName":"`)
	g.str(event, `:Bash","hookEvent":"`, event, `","command":"scripts/hook.sh","content":"","stdout":"`)
	g.code(120)
	g.str(`","stderr":"","exitCode":0,"durationMs":`)
	g.num(5 + g.rng.IntN(85))
	if tool != "" {
		g.str(`,"toolUseID":"`, tool, `"`)
	}
	g.str(`},"type":"attachment"`)
	g.end()
}

// toolKind writes the members of a call's input and of its result.
type toolKind struct {
	name          string
	input, result func(g *generator, file string)
}

var toolKinds = [...]toolKind{
	{"Read", readInput, readResult},
	{"Bash", bashInput, bashResult},
	{"Edit", editInput, editResult},
	{"Grep", grepInput, grepResult},
}

func readInput(g *generator, file string) { g.str(`"file_path":"`, file, `"`) }

func readResult(g *generator, file string) {
	g.str(`"type":"text","file":{"filePath":"`, file, `","startLine":1,"content":"`)
	g.bytes(g.body)
	g.str(`"}`)
}

func bashInput(g *generator, _ string) {
	g.str(`"command":"go test ./...","description":"`)
	g.prose(1)
	g.str(`"`)
}

func bashResult(g *generator, _ string) {
	g.str(`"stdout":"`)
	g.bytes(g.body)
	g.str(`","stderr":"","interrupted":false,"isImage":false`)
}

func editInput(g *generator, file string) {
	g.str(`"file_path":"`, file, `","old_string":"`)
	g.code(g.lengthOf(200, 0.8, 3000))
	g.str(`","new_string":"`)
	g.code(g.lengthOf(260, 0.8, 3000))
	g.str(`","replace_all":false`)
}

func editResult(g *generator, file string) {
	g.str(`"filePath":"`, file, `","structuredPatch":[],"userModified":false,"originalFile":"`)
	g.bytes(g.body)
	g.str(`"`)
}

func grepInput(g *generator, _ string) {
	g.str(`"pattern":"`, vocabularyWords[g.rng.IntN(len(vocabularyWords))], `","output_mode":"content"`)
}

func grepResult(g *generator, file string) {
	g.str(`"mode":"content","numFiles":1,"filenames":["`, file, `"],"content":"`)
	g.bytes(g.body)
	g.str(`"`)
}
