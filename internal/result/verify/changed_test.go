package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// checked are the parts of a Report of which each leaf is changed.
var checked = []string{"answer", "figures", "verdict", "windows"}

// raw are members that no other member follows from in each document, and why. Those of counted are counters: a
// change of them must contradict what follows from them, if it is no change of a few frames.
var raw = []struct {
	path    *regexp.Regexp
	because string
}{
	{regexp.MustCompile(`^windows\[\d+\]\.generatorCPUPercent$`), "what generators said of their processors at single moments is not kept"},
	{regexp.MustCompile(`^windows\[\d+\]\.(took|unwatched)$`), "how long the drain took, and for how long nobody read, no counter says"},
	{regexp.MustCompile(`^windows\[\d+\]\.start$`), "a window may begin a little earlier or later than its clock says"},
	{regexp.MustCompile(`^windows\[\d+\]\.evidence\.(calm|gaps)$`), "readings within a window are not kept, only what they add up to"},
	{regexp.MustCompile(`^windows\[\d+\]\.evidence\.directions\[\d+\]\.(lostCalm|lostInBursts|lostInGaps|calmLossRatio)$`), "the same"},
	{regexp.MustCompile(`^windows\[\d+\]\.disturbance\.(over|strangers|waits|others)\b`), "who waited, and who ran meanwhile, is only told: what may have been lost follows from how long all waited together"},
	{regexp.MustCompile(`^windows\[\d+\]\.generators\[\d+\]\.name$`), "a generator's name in a window stands nowhere else but in the result"},
	{regexp.MustCompile(`^windows\[\d+\]\.directions\[\d+\]\.sessions\.roundTrip\.(min|mean)Microseconds$`), "the senders' kernels told it at single moments; the result has the least and the mean of all windows"},
}

// ofSeveral are raw where there are several generators, or trials are ended before their time: counters are of
// times of their own then, of which a window has the longest.
var ofSeveral = regexp.MustCompile(`^windows\[\d+\]\.(duration|evidence\.directions\[\d+\]\.mostOfferedPacketsPerSecond)$`)

var counted = regexp.MustCompile(`^windows\[\d+\]\.directions\[\d+\]\.(sent|returned)\.(packets|bytes)$|\.(receiveErrors|sendDrops|damagedFrames)$`)

// Each leaf of answer, figures, windows and verdict that is changed by hand is found: in the full tier of a ramp's
// Report each, of a search's each but for its windows, of which it is every fifth, of others' Reports every ninth;
// in the gate one of each kind, as the third window's loss ratio, of a ramp's Report, and of each other's a third
// of the kinds, of three neighbours all.
func TestEachChangedFigureIsFound(t *testing.T) {
	all := scenes()
	for number, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			s := all[name]
			r := s.compared(t).run(t)
			r.Samples, r.Notes = nil, nil
			every, ofWindows, ofKinds := 9, 9, 3
			switch name {
			case "ramp":
				every, ofWindows, ofKinds = 1, 1, 1
			case "search by the standard":
				every, ofWindows = 1, 5
			}
			text := marshal(t, r)
			wanted := oneOfKinds(t, text, ofKinds, number)
			if tier.Full {
				wanted = everySo(every, ofWindows)
			}
			tried, missed := changeEach(t, text, wanted, s.generators > 1 || slices.ContainsFunc(r.Windows, func(w report.Window) bool { return w.Decided != nil }))
			if tried < 25 {
				t.Errorf("only %d leaves were changed", tried)
			}
			for i, m := range missed {
				if i < 25 {
					t.Error("nobody finds " + m)
				}
			}
			t.Logf("%d leaves, %d not found", tried, len(missed))
		})
	}
}

// everySo wants every so manieth leaf, of windows every so manieth of theirs.
func everySo(every, ofWindows int) func(path string) bool {
	seen := 0
	return func(path string) bool {
		seen++
		if strings.HasPrefix(path, "windows") {
			return seen%ofWindows == 0
		}
		return seen%every == 0
	}
}

// oneOfKinds wants one leaf of every so manieth kind, which are leaves that differ in nothing but their numbers in
// lists: of one kind the first, of the next the second, and so on.
func oneOfKinds(t *testing.T, text []byte, every, first int) func(path string) bool {
	t.Helper()
	var kinds []string
	leaves, document := map[string][]string{}, decode(t, text)
	for _, part := range checked {
		eachLeaf(part, document[part], func(path string, _ any, _ func(any)) {
			kind := inLists.ReplaceAllString(path, "[]")
			if leaves[kind] == nil {
				kinds = append(kinds, kind)
			}
			leaves[kind] = append(leaves[kind], path)
		})
	}
	wanted := map[string]bool{}
	for i, kind := range kinds {
		if i%every != first%every {
			continue
		}
		wanted[leaves[kind][i%len(leaves[kind])]] = true
	}
	return func(path string) bool { return wanted[path] }
}

var inLists = regexp.MustCompile(`\[\d+\]`)

func decode(t *testing.T, text []byte) (document map[string]any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&document); err != nil {
		t.Fatal(err)
	}
	return document
}

func marshal(t *testing.T, r *report.Report) []byte {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// changeEach changes each leaf that is wanted by itself.
func changeEach(t *testing.T, text []byte, wanted func(path string) bool, several bool) (tried int, missed []string) {
	t.Helper()
	document := decode(t, text)
	for _, part := range checked {
		eachLeaf(part, document[part], func(path string, leaf any, set func(any)) {
			if !wanted(path) || isRaw(path) || several && ofSeveral.MatchString(path) {
				return
			}
			changed := change(path, leaf, several)
			set(changed)
			tried++
			if !found(t, document) {
				missed = append(missed, fmt.Sprintf("%s: %v for %v", path, changed, leaf))
			}
			set(leaf)
		})
	}
	return tried, missed
}

func isRaw(path string) bool {
	return slices.ContainsFunc(raw, func(r struct {
		path    *regexp.Regexp
		because string
	}) bool {
		return r.path.MatchString(path)
	})
}

// found says that a document is refused, or differs.
func found(t *testing.T, document map[string]any) bool {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(text)
	return err != nil || verify.Report(r, by).Outcome == verify.Differs
}

// eachLeaf visits what isn't an object or a list, each with a function that puts another value in its place.
func eachLeaf(path string, v any, visit func(path string, leaf any, set func(any))) {
	at := func(path string, child any, set func(any)) {
		switch child.(type) {
		case map[string]any, []any:
			eachLeaf(path, child, visit)
		default:
			visit(path, child, set)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at(path+"."+name, v[name], func(other any) { v[name] = other })
		}
	case []any:
		for i, child := range v {
			at(fmt.Sprintf("%s[%d]", path, i), child, func(other any) { v[i] = other })
		}
	}
}

// change is another value than a leaf's: the least that the document can say, and a hundredth and a thousand of raw
// counters, and of rates over several times.
func change(path string, leaf any, several bool) any {
	switch v := leaf.(type) {
	case bool:
		return !v
	case json.Number:
		n, is := new(big.Rat).SetString(v.String())
		if !is {
			return json.Number("1")
		}
		by := big.NewRat(1, 1)
		if counted.MatchString(path) || several && strings.HasPrefix(path, "windows") {
			by.Add(by, new(big.Rat).Quo(n, big.NewRat(100, 1))).Add(by, big.NewRat(1000, 1))
		}
		n.Add(n, by)
		return json.Number(new(big.Int).Quo(n.Num(), n.Denom()).String())
	case string:
		if n, is := new(big.Rat).SetString(v); is {
			return strings.TrimRight(new(big.Rat).Add(n, big.NewRat(1, 10_000_000)).FloatString(9), "0")
		}
		if d, err := time.ParseDuration(v); err == nil {
			return (d + d/100 + time.Millisecond).String()
		}
		return v + "x"
	}
	return "x"
}
