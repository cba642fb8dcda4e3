package sanitizetest

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// Words are hostile texts for a document.
var Words = []string{
	"::error::gone", "\n::error file=a::b", "\r::stop-commands::x", "\u00a0::warning::", "x\u2028::error::y",
	"##[error]red", "##vso[task.complete]", "a ##[group]b",
	"\x1b[2J\x1b[1;1Hdrawn", "\x1b]0;title\x07", "\u009b2J", "\x7f\x08", "\u202egnp.exe", "\u2066isolated\u2069",
	"no\u200bwidth\u200d\ufeff\u00ad", "\U000e0041tag", "\u3164",
	"<img src=x onerror=alert(1)>", "</td></table><script>x()</script>", "[link](https://evil.example)",
	"![i](http://evil.example/i.png)", "https://evil.example/x", "www.evil.example", "mailto:a@evil.example",
	"@somebody", "hi @org/team", "a@evil.example", "#123", "owner/repo#45", "GH-7", "`code`", "```\nfence",
	"| cell | cell |", "~~~", "<details>", "<!--", "]]>", "&lt;b&gt;",
	"=HYPERLINK(\"http://evil.example\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\"=1",
}

// Make gives a value one of each thing that it may have, such as what pointers point to, and an element of each list
// and map.
func Make(v reflect.Value) { grow(v, 16) }

func grow(v reflect.Value, deep int) {
	if deep == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		grow(v.Elem(), deep-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type() != reflect.TypeFor[time.Time]() {
				grow(v.Field(i), deep-1)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			grow(v.Index(i), deep-1)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() && v.CanSet() {
			v.Set(reflect.ValueOf(map[string]string{"of.somebody/else": strings.Join(Words, " ")}))
		}
	default:
	}
}

// Fill writes one after the other into all texts of a value, from the given one on, but those of the named fields.
func Fill(v reflect.Value, first int, except ...string) {
	fill(v, &first, except)
}

func fill(v reflect.Value, next *int, except []string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			fill(v.Elem(), next, except)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() && !slices.Contains(except, v.Type().Field(i).Name) {
				fill(v.Field(i), next, except)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), next, except)
		}
	case reflect.String:
		v.SetString(Words[*next%len(Words)])
		*next++
	default:
	}
}

var (
	command = regexp.MustCompile(`(?m)^[\pZ\s]*::`)
	legacy  = regexp.MustCompile(`##\pL*\[`)
	formula = regexp.MustCompile(`^[ ]*([=+@]|-\D)`)
	markup  = regexp.MustCompile(`(?i)<(img|script|a |!--)|https?://|www\.|(^|[^\pL\pN_])@[a-z]|@evil\.|#\d|\bGH-\d|\]\(`)
	// object is a command that names objects, between backticks, where no name is a link.
	object   = regexp.MustCompile("`[a-z0-9./ \uFFFD-]+`")
	elements = regexp.MustCompile(`(?i)<img|<script>x|<!--|onerror=alert\(1\)>`)
)

// Check finds what must not be in output of a format. The format is "text", "json", "csv", "markdown", "html" or
// "junit", or "" for a message.
func Check(t *testing.T, name, format string, output []byte) {
	t.Helper()
	text := string(bytes.ToValidUTF8(output, []byte("\x00")))
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) ||
			r == '\u3164' {
			t.Errorf("%s: %s has the character %U", name, format, r)
			return
		}
	}
	for _, bad := range []*regexp.Regexp{command, legacy} {
		if found := bad.FindStringIndex(text); found != nil {
			t.Errorf("%s: %s commands a runner: %q", name, format, around(text, found))
		}
	}
	switch parts := []string{text}; format {
	case "csv":
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		find(t, name, format, formula, slices.Concat(rows...))
	case "markdown":
		parts[0] = strings.NewReplacer("\\[", "", "\\]", "", "&#8203;", "·", "&#64;", "@").Replace(object.ReplaceAllString(text, ""))
		find(t, name, format, markup, parts)
	case "html", "junit":
		find(t, name, format, elements, parts)
	}
}

// find finds what must not be in any part of the output.
func find(t *testing.T, name, format string, bad *regexp.Regexp, parts []string) {
	t.Helper()
	for _, part := range parts {
		if found := bad.FindStringIndex(part); found != nil {
			t.Errorf("%s: %s has %q", name, format, around(part, found))
		}
	}
}

func around(text string, found []int) string {
	return text[max(0, found[0]-40):min(len(text), found[1]+40)]
}
