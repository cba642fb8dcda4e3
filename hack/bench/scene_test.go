package main

import (
	"strings"
	"testing"
)

func TestEveryRowHasAYardstick(t *testing.T) {
	for _, s := range scenes(takePart(t.TempDir(), ""), true) {
		if len(s.entries) == 0 {
			t.Errorf("%s: it has no entries", s.title)
		}
		for i, e := range s.entries {
			if to := s.against(i); to < 0 {
				t.Errorf("%s: %s with %d threads has nothing to be compared with", s.title, e, e.load.threads)
			} else if other := s.entries[to]; s.yardstick == "" && other.name != e.name {
				t.Errorf("%s: %s is compared with %s", s.title, e, other)
			}
		}
	}
}

func TestTheTablesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenes(takePart(t.TempDir(), ""), true) {
		if seen[s.title] {
			t.Errorf("two tables are called %q", s.title)
		}
		seen[s.title] = true
	}
}

func TestTheMainTablesComeFirst(t *testing.T) {
	main, all := scenes(takePart(t.TempDir(), ""), false), scenes(takePart(t.TempDir(), ""), true)
	if len(main) != 4 || len(all) <= len(main) || main[0].title != words(forwarder, base()) {
		t.Fatalf("%d of %d tables, the first: %s", len(main), len(all), main[0].title)
	}
	for i := range main {
		if main[i].title != all[i].title {
			t.Errorf("table %d is %q, and of all %q", i, main[i].title, all[i].title)
		}
	}
}

func TestAGeneratorThatSendsTooLittleSaysWhy(t *testing.T) {
	changed := func(change func(*load)) load {
		l := base()
		change(&l)
		return l
	}
	for _, c := range []struct {
		who     contender
		through dut
		load    load
		says    string
	}{
		{trafgen(""), ownProcessor, base(), "queue is full"},
		{trafgen(""), forwarder, changed(func(l *load) { l.bothWays = true }), "one interface"},
		{hping3(), forwarder, base(), "one flow, or one for each source port"},
		{hping3(), forwarder, changed(func(l *load) { l.flows, l.threads = 1, 2 }), "one thread"},
		{hping3(), sink, changed(func(l *load) { l.flows, l.size = 1, "IMIX" }), "one size"},
		{xdpTrafficgen(), forwarder, base(), "no router forwards"},
		{trexIn("", ""), forwarder, base(), "-trex DIR"},
		{trexIn(t.TempDir(), ""), forwarder, base(), "no _t-rex-64 in"},
		{trexIn(t.TempDir(), ""), forwarder, changed(func(l *load) { l.threads = 2 }), "with one thread"},
	} {
		if why := c.who.refuses(c.through, c.load); !strings.Contains(why, c.says) {
			t.Errorf("%s, %+v: %q, want %q", c.who.name, c.load, why, c.says)
		}
	}
}
