package rig

import (
	"errors"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

func TestListener(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ticks int) time.Time { return begin.Add(time.Duration(ticks) * tick) }
	west, east := fabric.End{Wire: "west", Index: 1}, fabric.End{Wire: "east", Index: 2}
	var l Listener
	for i, counts := range []map[fabric.End]uint64{
		{west: 1_000_000, east: 5}, // what was there before is not heard
		{west: 1_000_500, east: 505},
		{west: 1_000_510},                                // east's function is lost
		{west: 1_000_510, {Wire: "east", Index: 3}: 300}, // and comes back as another one
		{west: 1_000_520, {Wire: "east", Index: 3}: 300}, // a murmur
	} {
		l.count(at(i), counts, nil)
	}
	if last, err := l.LastHeard(); err != nil || last != at(3) {
		t.Errorf("last heard at %v %v, want %v", last, err, at(3))
	}
	if got := l.Between(at(0).Add(-1), at(4).Add(1)); got != 1_000+10+300+10 {
		t.Errorf("%d frames", got)
	}
	if got := l.Between(at(3).Add(-1), at(4).Add(1)); got != 10 {
		t.Errorf("%d frames in the last tick", got)
	}
	if got := l.Rate(); got != 1320 {
		t.Errorf("%v frames per second in the last four ticks, want 1320", got)
	}
	l.count(at(5), nil, errors.New("gone"))
	if _, err := l.LastHeard(); err == nil {
		t.Error("there is no error although the wires can't be listened to")
	}
}

func TestAListenerToOneWireIsDeafToOthers(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	west, east := fabric.End{Wire: "west", Index: 1}, fabric.End{Wire: "east", Index: 2}
	l := Listener{wires: []string{"west"}}
	for i, counts := range []map[fabric.End]uint64{{west: 0, east: 0}, {west: 100, east: 0}, {west: 100, east: 500}} {
		l.count(begin.Add(time.Duration(i)*tick), counts, nil)
	}
	if last, err := l.LastHeard(); err != nil || last != begin.Add(tick) {
		t.Errorf("last heard at %v %v, want %v", last, err, begin.Add(tick))
	}
}

func TestFootprint(t *testing.T) {
	before := footprint{"interface lr-e2e": true, "mount /": true}
	now := footprint{"interface lr-e2e": true, "mount /": true, "mount /run/linerate/fabric/e2e": true, "interface lr-other": true}
	if left := before.ours(now, "e2e"); len(left) != 1 || left[0] != "mount /run/linerate/fabric/e2e" {
		t.Errorf("left: %v", left)
	}
}
