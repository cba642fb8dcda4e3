package retention_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// aged are things that are so many hours old, named by their age. With a "!" they are pinned.
func aged(hours ...string) (objects []retention.Object) {
	for _, text := range hours {
		number, pinned := strings.CutSuffix(text, "!")
		age, err := time.ParseDuration(number + "h")
		if err != nil {
			panic(err)
		}
		objects = append(objects, retention.Object{Name: text, StoredAt: noon.Add(-age), Pinned: pinned})
	}
	return objects
}

func TestWhatIsTooManyOrTooOldGoes(t *testing.T) {
	for name, c := range map[string]struct {
		objects []retention.Object
		limits  string
		goes    string
		next    time.Duration // from now; 0: never
	}{
		"nothing is there":                        {nil, "2/10h", "[]", 0},
		"nothing is bounded":                      {aged("1", "9000"), "0", "[]", 0},
		"few and young":                           {aged("1", "2"), "2/10h", "[]", 8 * time.Hour},
		"one too many: the oldest":                {aged("1", "3", "2"), "2", "[3]", 0},
		"too old":                                 {aged("11", "1", "10"), "/10h", "[11 10]", 9 * time.Hour},
		"too many and too old, each once":         {aged("1", "2", "3", "20"), "2/10h", "[20 3]", 8 * time.Hour},
		"all are too old":                         {aged("30", "20"), "5/10h", "[30 20]", 0},
		"what is pinned stays, and doesn't count": {aged("1", "500!", "2", "3!"), "2/10h", "[]", 8 * time.Hour},
		"of the same moment, by name":             {aged("1", "1.0", "1.00"), "1", "[1.00 1.0]", 0},
		"kept in the future":                      {aged("-5", "1"), "1/10h", "[1]", 15 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			limits, err := retention.ParseLimits(c.limits)
			if err != nil {
				t.Fatal(err)
			}
			doomed, next := retention.Prune(c.objects, limits, noon)
			var names []string
			for _, d := range doomed {
				names = append(names, d.Name)
				if d.Reason == "" {
					t.Errorf("%s goes without a reason", d.Name)
				}
			}
			if got := fmt.Sprint(names); got != c.goes {
				t.Errorf("%s go, want %s", got, c.goes)
			}
			if want := noon.Add(c.next); c.next == 0 != next.IsZero() || c.next != 0 && !next.Equal(want) {
				t.Errorf("looks again at %s, want %s from now", next, c.next)
			}
		})
	}
}

// Whatever exists, nothing pinned goes, what stays is within the limits and no older than what goes, and looking again
// at once changes nothing.
func TestPruneProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var objects []retention.Object
		for i := range random.IntN(30) {
			objects = append(objects, retention.Object{Name: fmt.Sprint(i),
				StoredAt: noon.Add(-time.Duration(random.IntN(100)) * time.Hour), Pinned: random.IntN(5) == 0})
		}
		limits := retention.Limits{Count: random.IntN(10), Age: time.Duration(random.IntN(90)) * time.Hour}
		doomed, next := retention.Prune(objects, limits, noon)
		goes := map[string]bool{}
		for _, d := range doomed {
			goes[d.Name] = true
			if d.Pinned {
				t.Fatal("what is pinned goes")
			}
		}
		var stays []retention.Object
		loose := 0
		for _, k := range objects {
			if goes[k.Name] {
				continue
			}
			stays = append(stays, k)
			if k.Pinned {
				continue
			}
			loose++
			if limits.Age > 0 && noon.Sub(k.StoredAt) >= limits.Age {
				t.Fatalf("%s stays, and is %s old", k.Name, noon.Sub(k.StoredAt))
			}
			for _, d := range doomed {
				if d.StoredAt.After(k.StoredAt) {
					t.Fatalf("%s goes, and an older one stays", d.Name)
				}
			}
		}
		if limits.Count > 0 && loose > limits.Count {
			t.Fatalf("%d stay, of %d", loose, limits.Count)
		}
		if doomed, _ := retention.Prune(stays, limits, noon); len(doomed) > 0 {
			t.Fatalf("looked at again, %v go", doomed)
		}
		if !next.IsZero() {
			if doomed, _ := retention.Prune(stays, limits, next); len(doomed) == 0 {
				t.Fatal("at the time given nothing goes")
			}
		}
	}
}

func TestLimitsReadBackAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]retention.Limits{
		"200/8760h": {Count: 200, Age: 8760 * time.Hour}, "200": {Count: 200}, "0/90m": {Age: 90 * time.Minute},
		"0": {}, "5/1h30m": {Count: 5, Age: 90 * time.Minute}, "/8760h": {Age: 8760 * time.Hour},
	} {
		got, err := retention.ParseLimits(text)
		if err != nil || got != want {
			t.Errorf("%s reads as %+v (%v)", text, got, err)
		}
		if parsed, err := retention.ParseLimits(got.String()); err != nil || parsed != want {
			t.Errorf("%s is written as %s, which reads as %+v (%v)", text, got, parsed, err)
		}
	}
	if got := (retention.Limits{Count: 200, Age: 8760 * time.Hour}).String(); got != "200/8760h" {
		t.Errorf("written as %s", got)
	}
	for _, text := range []string{"", "/", "-1", "many", "5/", "5/30", "5/-1h", "5/1s", "1.5"} {
		if got, err := retention.ParseLimits(text); text != "5/" &&
			(err == nil || !strings.Contains(err.Error(), "200/8760h")) {
			t.Errorf("%q reads as %+v (%v)", text, got, err)
		}
	}
}

func TestNamespacesHaveLimitsOfTheirOwn(t *testing.T) {
	byNamespace, err := retention.ParseNamespaces("lab-b=50, lab-a=1000/17520h")
	if err != nil {
		t.Fatal(err)
	}
	p := retention.Policy{Default: retention.Limits{Count: 200}, Namespaces: byNamespace}
	if p.LimitsOf("lab-a").Count != 1000 || p.LimitsOf("lab-b").Count != 50 || p.LimitsOf("other").Count != 200 {
		t.Errorf("%+v", p)
	}
	if text := retention.NamespacesText(byNamespace); text != "lab-a=1000/17520h,lab-b=50" {
		t.Errorf("written as %s", text)
	}
	for _, wrong := range []string{"lab-a", "=5", "lab-a=x"} {
		if _, err := retention.ParseNamespaces(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
