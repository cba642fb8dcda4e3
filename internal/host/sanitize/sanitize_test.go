package sanitize_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/sanitize"
	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
)

func TestWhatAWriterLeavesOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"figures: 10 Mpps\n\tof 2\n": "figures: 10 Mpps\n\tof 2\n",
		"a::b\n  c::d ## [x] #1\n":   "a::b\n  c::d ## [x] #1\n",
		"::error::x\n ::x":           ": :error::x\n : :x",
		"a\n\u00a0::x":               "a\n\u00a0: :x",
		"##[group]x ###vso[y":        "## [group]x ###vso [y",
		"\x1b[1mbold\x07":            "\ufffd[1mbold\ufffd",
		"\r::x":                      "\ufffd::x",
		"a\u202eb\u200bc\ufeff":      "a\ufffdb\ufffdc\ufffd",
		"✅ ⚠️ größer\xff":            "✅ ⚠️ größer\ufffd",
	} {
		if got := sanitize.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A terminal gets what linerate draws on it, and nothing else.
func TestATerminalGetsOnlyWhatLinerateDraws(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1;31mFailed\x1b[0m":        "\x1b[1;31mFailed\x1b[0m",
		"\x1b[3A\r\x1b[Jagain\r\x1b[Kx":  "\x1b[3A\r\x1b[Jagain\r\x1b[Kx",
		"\x1b[2;2H\x1b]0;t\x07\x1b[?25l": "\ufffd[2;2H\ufffd]0;t\ufffd\ufffd[?25l",
		"\r::error::":                    "\r: :error::",
	} {
		var out bytes.Buffer
		if _, err := sanitize.NewWriter(&out, true).Write([]byte(text)); err != nil || out.String() != want {
			t.Errorf("%q becomes %q, want %q (%v)", text, out.String(), want, err)
		}
	}
}

func TestWhatMarkdownIsMadeOfWords(t *testing.T) {
	for text, want := range map[string]string{
		"docker.io/lab/openbsd@sha256:9f86": "docker.io/lab/openbsd&#64;sha256:9f86",
		"Xeon CPU @ 2.20GHz, 10 % | a_b":    `Xeon CPU &#64; 2.20GHz, 10 % \| a\_b`,
		"@somebody":                         "&#64;&#8203;somebody",
		"ask (@org/team)":                   "ask (&#64;&#8203;org/team)",
		"a@evil.example":                    "a&#64;&#8203;evil.example",
		"#12 and a/b#3":                     "#&#8203;12 and a/b#&#8203;3",
		"https://evil.example www.evil":     "https&#8203;://evil.example www&#8203;.evil",
		"<img src=x>":                       "&lt;img src=x&gt;",
	} {
		if got := sanitize.Markdown(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// FuzzSanitize cuts a text anywhere: what is left commands nobody, a second time changes nothing, and JSON keeps
// its values.
func FuzzSanitize(f *testing.F) {
	for i, w := range sanitizetest.Words {
		f.Add(w, i)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		cut := max(0, min(at, len(text)))
		var parts bytes.Buffer
		w := sanitize.NewWriter(&parts, false)
		for _, part := range []string{text[:cut], text[cut:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if whole := sanitize.Text(text); parts.String() != whole {
			t.Errorf("%q becomes %q in parts, and %q whole", text, parts.String(), whole)
		}
		sanitizetest.Check(t, text, "", parts.Bytes())
		if again := sanitize.Text(parts.String()); again != parts.String() {
			t.Errorf("%q becomes %q, and %q a second time", text, parts.String(), again)
		}
		document, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := sanitize.JSON(&out, document); err != nil {
			t.Fatal(err)
		}
		sanitizetest.Check(t, text, "json", out.Bytes())
		var was, is map[string]string
		if json.Unmarshal(document, &was) != nil || json.Unmarshal(out.Bytes(), &is) != nil || was["a"] != is["a"] {
			t.Errorf("%q is written as %s", text, out.Bytes())
		}
	})
}
