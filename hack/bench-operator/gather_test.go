package main

import (
	"testing"
	"time"
)

// Tests that hold devices keep them until all others wait, and then end one after the other.
func TestHoldersEndOneAfterTheOtherWhenAllOthersWait(t *testing.T) {
	o := options{tests: 1100, scarce: 100, rate: 10, duration: time.Minute, gather: true}
	allThere, last := 150*time.Second, time.Duration(0)
	for i := range o.scarce {
		applied := time.Duration(i) * time.Second / 2
		ends := applied + o.lasts(testName(i))
		if i == 0 && ends != allThere+allInLine {
			t.Errorf("the first ends at %s, want %s after all are there", ends, allInLine)
		}
		if i > 0 && ends-last != 600*time.Millisecond {
			t.Errorf("holder %d ends %s after the one before", i, ends-last)
		}
		last = ends
	}
	if got := o.lasts(testName(o.scarce)); got != o.duration {
		t.Errorf("the first of the others takes %s", got)
	}
}
