package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/patch"
)

func TestSet(t *testing.T) {
	tests := map[string]struct{ object, want string }{
		"replace":                  {`{"a":1,"k":2,"b":3}`, `{"a":1,"k":"new","b":3}`},
		"spelling kept":            {` { "z" : 1E5 , "k" : null , "e":"\u00e9\/" } `, ` { "z" : 1E5 , "k" : "new" , "e":"\u00e9\/" } `},
		"nested key alone":         {`{"a":{"k":1},"k":2}`, `{"a":{"k":1},"k":"new"}`},
		"nested key, none outside": {`{"a":{"k":1},"b":[{"k":2}]}`, `{"a":{"k":1},"b":[{"k":2}],"k":"new"}`},
		"key within a string":      {`{"a":"\"k\":1"}`, `{"a":"\"k\":1","k":"new"}`},
		"other case":               {`{"K":1}`, `{"K":1,"k":"new"}`},
		"duplicates: the last":     {`{"k":1,"a":2,"k":3}`, `{"k":1,"a":2,"k":"new"}`},
		"escaped key":              {`{"\u006b":1}`, `{"\u006b":"new"}`},
		"value an object":          {`{"k":{"k":[1,{"k":2}]},"a":1}`, `{"k":"new","a":1}`},
		"empty object":             {`{}`, `{"k":"new"}`},
		"empty object with space":  {` { } `, ` { "k":"new"} `},
		"lone surrogate kept":      {`{"a":"\ud800","k":1}`, `{"a":"\ud800","k":"new"}`},
		"bad bytes kept":           {"{\"a\":\"\xff\xfe\",\"k\":1}", "{\"a\":\"\xff\xfe\",\"k\":\"new\"}"},
	}
	for name, tt := range tests {
		got, err := patch.Set([]byte(tt.object), "k", []byte(`"new"`))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: Set(%s) = %s, %v, want %s", name, tt.object, got, err, tt.want)
		}
	}
}

func TestRemove(t *testing.T) {
	tests := map[string]struct{ object, want string }{
		"first":           {`{"k":1,"a":2}`, `{"a":2}`},
		"middle":          {`{"a":1, "k":2, "b":3}`, `{"a":1, "b":3}`},
		"last":            {`{"a":1 , "k":2 }`, `{"a":1 }`},
		"only":            {`{ "k":1 }`, `{  }`},
		"absent":          {` {"a":{"k":1}} `, ` {"a":{"k":1}} `},
		"nested key":      {`{"a":{"k":1},"k":2,"b":[{"k":3}]}`, `{"a":{"k":1},"b":[{"k":3}]}`},
		"every duplicate": {`{"k":1,"a":2,"k":3}`, `{"a":2}`},
		"only duplicates": {`{"k":1,"k":2}`, `{}`},
		"escaped key":     {`{"a":1,"\u006b":2}`, `{"a":1}`},
		"other case":      {`{"K":1}`, `{"K":1}`},
		"empty":           {`{}`, `{}`},
	}
	for name, tt := range tests {
		got, err := patch.Remove([]byte(tt.object), "k")
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: Remove(%s) = %s, %v, want %s", name, tt.object, got, err, tt.want)
		}
	}
}

func TestNoObject(t *testing.T) {
	for _, text := range []string{``, `[]`, `"k"`, `null`, `{"k":1`, `{"k":1}x`, `{"k":1,}`} {
		if got, err := patch.Set([]byte(text), "k", []byte("1")); err == nil {
			t.Errorf("Set(%s) = %s", text, got)
		}
		if got, err := patch.Remove([]byte(text), "k"); err == nil {
			t.Errorf("Remove(%s) = %s", text, got)
		}
	}
}

// An error must not carry what the object says.
func TestErrorIsSilent(t *testing.T) {
	_, err := patch.Set([]byte(`{"secret"`), "k", []byte("1"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// object draws an object in some spelling, without the key k.
func object(t *rapid.T) string {
	space := rapid.SampledFrom([]string{"", " ", "\t ", "\r\n"})
	values := []string{`1`, `-0`, `1E5`, `"x"`, `"\u00e9\/"`, `{"k":1}`, `[{"k":null}]`, `"\"k\":"`, `{}`, "\"\u2028é\"", `true`}
	keys := []string{`"a"`, `"b"`, `"K"`, `"\u0061b"`, `""`, `"kk"`}
	var members []string
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		members = append(members, space.Draw(t, "s1")+rapid.SampledFrom(keys).Draw(t, "key")+space.Draw(t, "s2")+":"+space.Draw(t, "s3")+rapid.SampledFrom(values).Draw(t, "value")+space.Draw(t, "s4"))
	}
	return space.Draw(t, "before") + "{" + strings.Join(members, ",") + "}" + space.Draw(t, "after")
}

// What Set adds, Remove takes away again, to the byte; and back.
func TestAddAndRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := object(t)
		value := rapid.SampledFrom([]string{`1`, `"k"`, `{"k":[1,2]}`, `[]`}).Draw(t, "new")
		with, err := patch.Set([]byte(before), "k", []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonspan.Parse(with)
		if err != nil || string(v.Get("k").Raw) != value || !json.Valid(with) {
			t.Fatalf("Set gave %s, %v", with, err)
		}
		without, err := patch.Remove(with, "k")
		if err != nil || string(without) != before {
			t.Fatalf("%q came back as %q, %v", before, without, err)
		}
	})
}

// Setting a member's own value changes nothing; setting another and the first
// one again gives the original.
func TestSetBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(object(t))
		v, err := jsonspan.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for m := range v.Members() {
			old := string(v.Get(m.Key).Raw)
			changed, err := patch.Set(text, m.Key, []byte(`"something else"`))
			if err != nil {
				t.Fatal(err)
			}
			back, err := patch.Set(changed, m.Key, []byte(old))
			if err != nil || string(back) != string(text) {
				t.Fatalf("%q came back as %q, %v", text, back, err)
			}
			if len(changed) != len(text)-len(old)+len(`"something else"`) {
				t.Fatalf("%q became %q", text, changed)
			}
		}
	})
}
