package fabric_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/fabric"
)

func TestEntered(t *testing.T) {
	s := laid(t, "count", 1)
	from, to := up(t, s, "a", "westp0v0", 1), up(t, s, "b", "westp1v0", 2)
	before := entered(t, s)
	if err := reach(t, from, to, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	for end, n := range entered(t, s) {
		if said := n > before[end]; said != (end.Wire == "west") {
			t.Errorf("%+v: %d frames after %d", end, n, before[end])
		}
	}
}

func entered(t *testing.T, s fabric.Spec) map[fabric.End]uint64 {
	t.Helper()
	counts, err := s.Entered()
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != 4 {
		t.Errorf("%d ends, want 2 wires' with 2 functions each: %v", len(counts), counts)
	}
	return counts
}
