package intake

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Somebody writes a member twice: who looked at the document may have read the first, and the decoder takes the last.
func TestADocumentHasOneReading(t *testing.T) {
	type inner struct{ Loss string }
	type document struct {
		Verdict string           `json:"verdict"`
		Inner   inner            `json:"inner"`
		List    []inner          `json:"list"`
		Map     map[string]inner `json:"map"`
		Any     any              `json:"any"`
	}
	long := strings.Repeat("x", 2000)
	for text, twice := range map[string]string{
		`{"verdict":"Failed","inner":{"Loss":"1"},"list":[{"Loss":"1"},{"Loss":"2"}],"map":{"a":{"Loss":"1"},"b":{"Loss":"1"}},"any":{"a":{"a":1},"b":[{"a":1},{"a":1}]}}`: "",
		`{"verdict":"Failed","unknown":1,"unknown":2}`:         "",
		fmt.Sprintf(`{"map":{"%sa":{},"%sb":{}}}`, long, long): "",
		`{"verdict":"Failed","verdict":"Passed"}`:              "verdict",
		`{"verdict":"Failed","Verdict":"Passed"}`:              "verdict",
		`{"verdict":"Failed","\u0076erdict":"Passed"}`:         "verdict",
		`{"inner":{"Loss":"1"},"inner":{"Loss":"2"}}`:          "inner",
		`{"inner":{"Loss":"1","loss":"2"}}`:                    "Loss",
		`{"list":[{"Loss":"1"},{"Loss":"2","Loss":"3"}]}`:      "Loss",
		`{"map":{"a":{},"b":{},"a":{}}}`:                       "a",
		`{"any":{"a":{"b":1,"b":2}}}`:                          "b",
		`{"any":[{"a":1,"\u0061":2}]}`:                         "a",
	} {
		var d document
		err := JSON([]byte(text), &d, Small)
		_, refused := errors.AsType[Exceeded](err)
		if refused != (twice != "") || refused && !strings.Contains(strings.ToUpper(err.Error()), fmt.Sprintf("TWO MEMBERS %q", strings.ToUpper(twice))) {
			t.Errorf("%.80s: %v, want %q to be there twice", text, err, twice)
		}
	}
}
