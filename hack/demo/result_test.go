package main

import (
	"testing"
)

func TestArgumentsAreChecked(t *testing.T) {
	for _, args := range [][]string{nil, {"sideways"}, {"up", "now"}} {
		if code, err := command(t.Context(), args); code != exitBadInput || err == nil {
			t.Errorf("%q: exit code %d, %v", args, code, err)
		}
	}
}
