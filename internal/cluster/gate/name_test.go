package gate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestComposedNames(t *testing.T) {
	const digest = "3f9a1c2b44aa"
	for _, c := range []struct{ base, suffix, want string }{
		// What fits is as it is asked for.
		{"router", "", "router-3f9a1c2"},
		{"router-64b", "pr-1234", "router-64b-pr-1234"},
		{"ro", "nightly-gate-29384730", "ro-nightly-gate-29384730"},
		{"sixteen-letters1", "", "sixteen-letters1-3f9a1c2"},
		{"router-64b-64b", "123456789", "router-64b-64b-123456789"},
		// What doesn't has letters of both: nights differ by the end of their names.
		{"router-64b", "nightly-gate-29384730", "router-6-450245-29384730"},
		{"router-imix", "nightly-gate-29384730", "router-i-00af33-29384730"},
		{"router-64b", "nightly-gate-29386170", "router-6-249edf-29386170"},
		{"a-router-of-many-letters", "pr-1234", "a-router-ce302a-pr-1234"},
		{"router-imix", "thirteen-lett", "rou-f6d148-thirteen-lett"},
		{"router", "a-branch-without-ends", "router-cb50cc-ends"},
		{"router", "abcdefghijklmnopqrstuv", "router-81e7a6-nopqrstuv"},
		{"a-name-of-seventeen", "", "a-name-of-sevent-28eaa4d"},
	} {
		if got := nameFrom(c.base, digest, c.suffix); got != c.want {
			t.Errorf("%s with suffix %q is called %s, want %s", c.base, c.suffix, got, c.want)
		}
	}
}

// Whatever objects and suffixes are called, a name has room for its tries, is one that Kubernetes takes, and is
// no other object's or suffix's.
func TestNamesAreEachOnesOwn(t *testing.T) {
	const letters = "abz019-"
	r := rand.New(rand.NewPCG(1, 2))
	word := func(limit int) string {
		text := []byte{'a'}
		for range r.IntN(limit) {
			text = append(text, letters[r.IntN(len(letters))])
		}
		return strings.TrimRight(string(text), "-")
	}
	type asked struct{ base, suffix string }
	owners := map[string]asked{}
	for range 20_000 {
		owner := asked{word(40), word(maxName - triesRoom - 2)}
		name := nameFrom(owner.base, "3f9a1c2b44aa", owner.suffix)
		if len(Try(name, MaxTries)) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			strings.Trim(name, "-") != name || CheckSuffix(owner.suffix) != nil {
			t.Fatalf("%+v is called %q", owner, name)
		}
		if previous, exists := owners[name]; exists && previous != owner && len(owner.base)+1+
			len(owner.suffix) > maxName-triesRoom {
			t.Fatalf("%+v and %+v are both called %s", owner, previous, name)
		}
		owners[name] = owner
	}
}

// A night's name leaves little of its LoadTests' names. The names of two LoadTests still differ, and each night finds
// its own again.
func TestTheTestsOfOneFileHaveNamesOfTheirOwn(t *testing.T) {
	file := router + absolute + "---\n" + strings.Replace(router, "name: router-imix", "name: router-64b", 1) + absolute
	names := func(suffix string) []string {
		t.Helper()
		subjects, err := prepared(t, file, Options{Suffix: suffix})
		if err != nil || len(subjects) != 2 {
			t.Fatalf("%d suites (%v), want 2", len(subjects), err)
		}
		return []string{subjects[0].Suite.Name, subjects[1].Suite.Name}
	}
	night, repeated, next := names("nightly-gate-29384730"), names("nightly-gate-29384730"),
		names("nightly-gate-29386170")
	for i := range night {
		if night[i] != repeated[i] || night[i] == next[i] {
			t.Errorf("a night has %s, then %s, and the next one has %s", night[i], repeated[i], next[i])
		}
	}
	if night[0] == night[1] {
		t.Errorf("both are called %s", night[0])
	}
	t.Run("two of one name in two files are refused", func(t *testing.T) {
		first, second := onlySubject(t, router+absolute, Options{Suffix: "pr-1"}),
			onlySubject(t, router+strings.Replace(absolute, "95", "96", 1), Options{Suffix: "pr-1"})
		if err := distinct([]*Subject{first, second}); err == nil ||
			!strings.Contains(err.Error(), "both be LoadTestSuite router-imix-pr-1: give them other names") {
			t.Errorf("%v, want what to do", err)
		}
	})
}
