package trex

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestPortSet(t *testing.T) {
	for text, want := range map[string][]int{`[0,3]`: {0, 3}, `[]`: {}, `9`: {0, 3}, `0`: nil} {
		var got portSet
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`"west"`), new(portSet)); err == nil {
		t.Error("words are taken for ports")
	}
}
