package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// mostFindings is how many findings a check lists. It only counts further ones.
const mostFindings = 200

// mostShown is how many bytes of a value a finding shows.
const mostShown = 120

// differ compares values as JSON, and collects where they differ.
type differ struct {
	check   Check
	omitted int
}

func newDiffer(name CheckName) *differ { return &differ{check: Check{Name: name}} }

// done is the check with all that was found.
func (d *differ) done() Check {
	if d.omitted > 0 {
		d.check.Findings = append(d.check.Findings, Finding{Object: "the report",
			Message: fmt.Sprintf("%d more differences are not listed", d.omitted)})
	}
	return d.check
}

// found adds a finding that is only a sentence.
func (d *differ) found(object, field, format string, args ...any) {
	d.add(Finding{Object: object, Field: field, Message: object + ": " + fmt.Sprintf(format, args...)})
}

func (d *differ) add(f Finding) {
	if len(d.check.Findings) >= mostFindings {
		d.omitted++
		return
	}
	d.check.Findings = append(d.check.Findings, f)
}

// notVerified notes what can't be verified, and why.
func (d *differ) notVerified(format string, args ...any) {
	d.check.NotVerified = append(d.check.NotVerified, fmt.Sprintf(format, args...))
}

// compare finds where what the document says differs from what was recomputed.
func (d *differ) compare(object string, stands, gives any) { d.compareAt(object, "", stands, gives) }

// compareAt compares a member of the object.
func (d *differ) compareAt(object, field string, stands, gives any) {
	a, errA := json.Marshal(stands)
	b, errB := json.Marshal(gives)
	if errA != nil || errB != nil {
		d.found(object, field, "it holds a number that no document can hold")
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

// values compares two values, and what they consist of.
func (d *differ) values(object, path string, stands, gives any) {
	switch a := stands.(type) {
	case map[string]any:
		if b, ok := gives.(map[string]any); ok {
			d.members(object, path, a, b)
			return
		}
	case []any:
		if b, ok := gives.([]any); ok && len(a) == len(b) {
			for i := range a {
				d.values(object, path+"["+strconv.Itoa(i)+"]", a[i], b[i])
			}
			return
		}
	}
	if saved, computed := shown(stands), shown(gives); saved != computed {
		d.differs(object, path, saved, computed)
	}
}

// members compares the members of two objects.
func (d *differ) members(object, path string, a, b map[string]any) {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		member := name
		if path != "" {
			member = path + "." + name
		}
		d.values(object, member, a[name], b[name])
	}
}

// differs adds a difference between two values.
func (d *differ) differs(object, field, stands, gives string) {
	f := Finding{Object: object, Field: field, Stands: stands, Gives: gives}
	place := object
	if field != "" {
		place += ": " + field
	}
	switch {
	case stands == "":
		f.Message = fmt.Sprintf("%s is missing, but %s %s", place, d.source(), brief(gives))
	case gives == "":
		f.Message = fmt.Sprintf("%s is %s, but %s none", place, brief(stands), d.source())
	default:
		stands, gives = fromDifference(stands, gives)
		f.Message = fmt.Sprintf("%s is %s, but %s %s", place, brief(stands), d.source(), brief(gives))
	}
	d.add(f)
}

// source says where the expected value comes from.
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

// shown is a value as JSON, or empty for none.
func shown(v any) string {
	if v == nil {
		return ""
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // it was read from JSON
		return ""
	}
	return string(bytes.TrimSpace(text.Bytes()))
}

// fromDifference cuts two long texts to begin shortly before their first difference.
func fromDifference(a, b string) (restA, restB string) {
	const context = 30
	x, y := []rune(a), []rune(b)
	if len(a) <= mostShown && len(b) <= mostShown {
		return a, b
	}
	length := 0
	for length < min(len(x), len(y)) && x[length] == y[length] {
		length++
	}
	if length <= context {
		return a, b
	}
	return "…" + string(x[length-context:]), "…" + string(y[length-context:])
}

// brief is a value, cut to a length that fits into a sentence.
func brief(text string) string {
	runes := []rune(text)
	if len(runes) <= mostShown {
		return text
	}
	return string(runes[:mostShown]) + "…"
}
