package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mostFindings is how many findings a check tells; what is more is counted.
const mostFindings = 200

// mostShown is how many bytes of a value a finding shows.
const mostShown = 120

// differ holds values against each other as JSON has them, and collects where they differ.
type differ struct {
	check Check
	more  int
	// earlier: the document is of a version before evidence. What it lacks altogether its linerate didn't write yet, and is no difference: absent are the names of these members.
	earlier bool
	absent  map[string]bool
}

func newDiffer(name CheckName) *differ { return &differ{check: Check{Name: name}} }

// differ is one of the subject's.
func (s *subject) differ(name CheckName) *differ {
	return &differ{check: Check{Name: name}, earlier: !recent(s.Report), absent: map[string]bool{}}
}

// done is the check with all that was found.
func (d *differ) done() Check {
	if len(d.absent) > 0 {
		d.open("the linerate that wrote it didn't write %s yet", strings.Join(slices.Sorted(maps.Keys(d.absent)), ", "))
	}
	if d.more > 0 {
		d.check.Findings = append(d.check.Findings, Finding{Object: "the report", Message: fmt.Sprintf("%d more differences are not listed", d.more)})
	}
	return d.check
}

// say adds a finding in words alone.
func (d *differ) say(object, field, format string, args ...any) {
	d.add(Finding{Object: object, Field: field, Message: object + ": " + fmt.Sprintf(format, args...)})
}

func (d *differ) add(f Finding) {
	if len(d.check.Findings) >= mostFindings {
		d.more++
		return
	}
	d.check.Findings = append(d.check.Findings, f)
}

// open says what can't be verified.
func (d *differ) open(format string, args ...any) {
	d.check.NotVerified = append(d.check.NotVerified, fmt.Sprintf(format, args...))
}

// hold finds where what stands in the document isn't what was made anew.
func (d *differ) hold(object string, stands, gives any) { d.holdAt(object, "", stands, gives) }

// holdAt is hold of a member of the object.
func (d *differ) holdAt(object, field string, stands, gives any) {
	a, errA := json.Marshal(stands)
	b, errB := json.Marshal(gives)
	if errA != nil || errB != nil {
		d.say(object, field, "it holds a number that no document can hold")
		return
	}
	if !bytes.Equal(a, b) {
		d.values(object, field, generic(a), generic(b))
	}
}

// generic is a document as maps, lists and numbers as they are written.
func generic(document []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	if dec.Decode(&v) != nil { // json.Marshal wrote it
		return nil
	}
	return v
}

// values walks two values side by side.
func (d *differ) values(object, path string, stands, gives any) {
	switch a := stands.(type) {
	case map[string]any:
		if b, is := gives.(map[string]any); is {
			d.members(object, path, a, b)
			return
		}
	case []any:
		if b, is := gives.([]any); is && len(a) == len(b) {
			for i := range a {
				d.values(object, path+"["+strconv.Itoa(i)+"]", a[i], b[i])
			}
			return
		}
	}
	if is, should := shown(stands), shown(gives); is != should {
		d.differs(object, path, is, should)
	}
}

func (d *differ) members(object, path string, a, b map[string]any) {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		member := name
		if path != "" {
			member = path + "." + name
		}
		d.values(object, member, a[name], b[name])
	}
}

func (d *differ) differs(object, field, stands, gives string) {
	if d.earlier && stands == "" {
		d.absent[field[strings.LastIndexByte(field, '.')+1:]] = true
		return
	}
	f := Finding{Object: object, Field: field, Stands: stands, Gives: gives}
	where := object
	if field != "" {
		where += ": " + field
	}
	switch {
	case stands == "":
		f.Message = fmt.Sprintf("%s is missing, and %s %s", where, d.source(), brief(gives))
	case gives == "":
		f.Message = fmt.Sprintf("%s is %s, and %s none", where, brief(stands), d.source())
	default:
		stands, gives = apart(stands, gives)
		f.Message = fmt.Sprintf("%s is %s, and %s %s", where, brief(stands), d.source(), brief(gives))
	}
	d.add(f)
}

// source says what a value that should stand there follows from.
func (d *differ) source() string {
	switch d.check.Name {
	case CheckEnvironment:
		return "the rest of the document gives"
	case CheckProcedure:
		return "the procedure asks for"
	default:
		return "the counters give"
	}
}

// shown is a value as JSON; empty: it isn't there.
func shown(v any) string {
	if v == nil {
		return ""
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // it was read from JSON
		return ""
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// apart are two long texts from shortly before the place on where they part.
func apart(a, b string) (restA, restB string) {
	const before = 30
	x, y := []rune(a), []rune(b)
	if len(a) <= mostShown && len(b) <= mostShown {
		return a, b
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	if same <= before {
		return a, b
	}
	return "…" + string(x[same-before:]), "…" + string(y[same-before:])
}

// brief is a value that isn't too long for a sentence.
func brief(text string) string {
	runes := []rune(text)
	if len(runes) <= mostShown {
		return text
	}
	return string(runes[:mostShown]) + "…"
}
