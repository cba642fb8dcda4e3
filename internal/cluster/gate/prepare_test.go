package gate

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/compile/admission"
)

const router = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: router-imix, labels: {linerate.dev/loadtest: imix}}
spec:
  dut:
    type: Pod
    pod:
      template:
        spec:
          containers:
          - {name: router, image: "registry.lab/router:main"}
          - {name: side, image: "registry.lab:5000/side@sha256:aa"}
  links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
`

const matrix = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: releases}
spec:
  template:
    spec: {dut: {type: Reference}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
  axes:
  - name: image
    values:
    - {name: main}
    - {name: new, patch: {dut: {reference: {limit: {packetsPerSecond: 10000}}}}}
  repetitions: 5
`

const absolute = `
  criteria: [{name: line-rate, metric: LineRatePercent, min: 95%}]
`

func prepared(t *testing.T, file string, o Options) ([]*Subject, error) {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("gate.yaml", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	o.Namespace = "lab"
	return Prepare(server, objects, o)
}

func onlySubject(t *testing.T, file string, o Options) *Subject {
	t.Helper()
	subjects, err := prepared(t, file, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(subjects) != 1 {
		t.Fatalf("there are %d suites, want 1", len(subjects))
	}
	return subjects[0]
}

func images(t *testing.T, texts ...string) []Image {
	t.Helper()
	images, err := ParseImages("--image", texts)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// imageOf is the first container's image in a cell of a suite.
func imageOf(t *testing.T, s *Subject, cell, container int) string {
	t.Helper()
	content, err := s.Matrix.Content(cell, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	spec := content["spec"].(map[string]any)
	for _, key := range []string{"dut", "pod", "template", "spec"} {
		spec = spec[key].(map[string]any)
	}
	return spec["containers"].([]any)[container].(map[string]any)["image"].(string)
}

func TestALoadTestBecomesASuite(t *testing.T) {
	t.Run("with an absolute criterion it is measured once", func(t *testing.T) {
		s := onlySubject(t, router+absolute, Options{})
		if s.Suite.Spec.Repetitions != 1 || len(s.Matrix.Cells) != 1 || len(s.Suite.Spec.Criteria) != 1 ||
			s.Suite.Namespace != "lab" || s.Suite.Spec.TTLAfterFinished != defaultTTL {
			t.Errorf("it is %+v", s.Suite.Spec)
		}
	})
	t.Run("with a baseline it is measured five times", func(t *testing.T) {
		s := onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true})
		if c := s.Suite.Spec.Criteria; s.Suite.Spec.Repetitions != 5 || len(c) != 1 || c[0].MaxRegression != "2%" ||
			c[0].Direction != "Each" {
			t.Errorf("it is %+v", s.Suite.Spec)
		}
	})
	t.Run("as often as is asked for", func(t *testing.T) {
		if s := onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true,
			Runs: 8}); s.Suite.Spec.Repetitions != 8 {
			t.Errorf("it is measured %d times, want 8", s.Suite.Spec.Repetitions)
		}
	})
	t.Run("with another image as baseline both are measured in turns", func(t *testing.T) {
		s := onlySubject(t, router, Options{MaxRegression: "2%",
			Images:         images(t, "registry.lab/router=registry.lab/router:abc"),
			BaselineImages: images(t, "registry.lab/router=registry.lab/router:1.4")})
		if b := s.Suite.Spec.Baseline; len(s.Matrix.Cells) != 2 || b == nil || b.Axis != "release" ||
			s.Suite.Spec.Order != "Shuffled" {
			t.Fatalf("it is %+v", s.Suite.Spec)
		}
		for cell, want := range []string{"registry.lab/router:1.4", "registry.lab/router:abc"} {
			if got := imageOf(t, s, cell, 0); got != want {
				t.Errorf("cell %s measures %s, want %s", s.Matrix.Cells[cell].Name, got, want)
			}
			if got := imageOf(t, s, cell, 1); got != "registry.lab:5000/side@sha256:aa" {
				t.Errorf("the other container's image became %s", got)
			}
		}
	})
	t.Run("what may differ from the baseline stands in the suite that has one", func(t *testing.T) {
		o := Options{MaxRegression: "2%", BaselineImages: images(t, "registry.lab/router=registry.lab/router:1.4"),
			AllowDifferent: []string{"Node", "Driver"}}
		if b := onlySubject(t, router, o).Suite.Spec.Baseline; fmt.Sprint(b.AllowedDifferences) != "[Node Driver]" {
			t.Errorf("of a LoadTest it is %v", b.AllowedDifferences)
		}
		o = Options{MaxRegression: "2%", AllowDifferent: []string{"Node", "Driver"}}
		if b := onlySubject(t, matrix+"  baseline: {axis: image, value: main, allowedDifferences: [Node]}\n",
			o).Suite.Spec.Baseline; fmt.Sprint(b.AllowedDifferences) != "[Node Driver]" {
			t.Errorf("of a suite it is %v", b.AllowedDifferences)
		}
	})
	t.Run("an image that isn't the baseline's own is the same on both sides", func(t *testing.T) {
		s := onlySubject(t, router, Options{MaxRegression: "2%",
			Images: images(t, "registry.lab/router=registry.lab/router:abc",
				"registry.lab:5000/side=registry.lab:5000/side:2"),
			BaselineImages: images(t, "registry.lab/router=registry.lab/router:1.4")})
		for cell, want := range []string{"registry.lab/router:1.4", "registry.lab/router:abc"} {
			if router, side := imageOf(t, s, cell, 0), imageOf(t, s, cell, 1); router != want ||
				side != "registry.lab:5000/side:2" {
				t.Errorf("cell %s measures %s beside %s, want %s", s.Matrix.Cells[cell].Name, router, side, want)
			}
		}
	})
	t.Run("its row in tables stays the same", func(t *testing.T) {
		content, err := onlySubject(t, router+absolute, Options{}).Matrix.Content(0, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		labels := content["metadata"].(map[string]any)["labels"].(map[string]any)
		if labels["linerate.dev/product"] != "router-imix" || labels["linerate.dev/loadtest"] != "imix" {
			t.Errorf("its labels are %v", labels)
		}
	})
}

func TestNames(t *testing.T) {
	first := onlySubject(t, router+absolute, Options{}).Suite.Name
	for name, c := range map[string]struct {
		file  string
		o     Options
		equal bool
	}{
		"the same again": {router + absolute, Options{}, true},
		"another image": {router + absolute,
			Options{Images: images(t, "registry.lab/router=registry.lab/router:abc")}, false},
		"another criterion":    {router + strings.Replace(absolute, "95", "96", 1), Options{}, false},
		"more runs":            {router + absolute, Options{Runs: 2}, false},
		"another time to live": {router + absolute + "  ttlAfterFinished: 1h\n", Options{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := onlySubject(t, c.file, c.o).Suite.Name; (got == first) != c.equal {
				t.Errorf("it is %s, and the first one is %s", got, first)
			}
		})
	}
	t.Run("there is room for further tries", func(t *testing.T) {
		long := strings.Replace(router, "router-imix", "a-name-that-is-much-too-long-for-a-suite", 1) + absolute
		if got := Try(onlySubject(t, long, Options{}).Suite.Name, MaxTries); len(got) > 26 ||
			!strings.HasPrefix(got, "a-name-that") {
			t.Errorf("it is %s", got)
		}
	})
	t.Run("a suffix of one's own", func(t *testing.T) {
		if got := onlySubject(t, router+absolute, Options{Suffix: "pr-1234"}).Suite.Name; got != "router-imix-pr-1234" {
			t.Errorf("it is %s", got)
		}
	})
	checkSuffixes(t)
}

func checkSuffixes(t *testing.T) {
	t.Helper()
	for suffix, fine := range map[string]bool{"": true, "pr-1": true, "PR-1": false, "pr-": false, "a.b": false,
		strings.Repeat("a", 23): false} {
		if err := CheckSuffix(suffix); (err == nil) != fine {
			t.Errorf("suffix %q: %v", suffix, err)
		}
	}
}

func TestWhatAGateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		o       Options
		message string
	}{
		"no criterion":    {router, Options{}, "could never fail"},
		"a suite without": {matrix, Options{}, "those of its template don't count"},
		"nothing to compare with": {router, Options{MaxRegression: "2%"},
			"there is no baseline: give --baseline-image"},
		"a baseline, and nothing compares": {router + absolute, Options{Baseline: true},
			"no criterion compares with it"},
		"two baselines of a LoadTest": {router + "  baseline: {loadTest: other}\n", Options{MaxRegression: "2%",
			BaselineImages: []Image{{"registry.lab/router", "x"}}}, "there is another one"},
		"a baseline in the file, and another": {router + "  baseline: {loadTest: other}\n", Options{MaxRegression: "2%",
			Baseline: true}, "leave one of them out"},
		"two baselines of a suite": {matrix + "  baseline: {axis: image, value: main}\n",
			Options{MaxRegression: "2%", Baseline: true}, "leave one of them out"},
		"runs of a suite": {matrix + absolute, Options{Runs: 3}, "spec.repetitions"},
		"an image that isn't there": {router + absolute, Options{Images: []Image{{"rooter", "x"}}},
			"the images are registry.lab/router:main"},
		"an image where there are none": {matrix + absolute, Options{Images: []Image{{"rooter", "x"}}},
			"the files have no image"},
		"leave, and nothing that compares": {router + absolute, Options{AllowDifferent: []string{"Node"}},
			"--allow-different Node: nothing is compared with a baseline"},
		"a LoadTest that is suspended": {router + absolute + "  suspend: true\n", Options{},
			"a gate can't measure a suite with spec.stop or spec.suspend"},
		"a LoadTest that a cluster can't run": {router + absolute + "  activeDeadline: 10s\n", Options{},
			"set activeDeadline to"},
		"an allowance that isn't one": {router, Options{MaxRegression: "much", Baseline: true},
			"maxRegression"},
		"a baseline with nothing else to measure": {strings.Replace(matrix,
			"    - {name: new, patch: {dut: {reference: {limit: {packetsPerSecond: 10000}}}}}\n", "", 1) +
			"  baseline: {axis: image, value: main}\n",
			Options{MaxRegression: "2%"}, "which is the baseline, so nothing would be compared with it"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := prepared(t, c.file, c.o); err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v, want an error that says %q", err, c.message)
			}
		})
	}
	for _, text := range []string{"", "=x", "x=", "router", "a b=c"} {
		if _, err := ParseImages("--image", []string{text}); err == nil {
			t.Errorf("image %q is taken", text)
		}
	}
}

func TestHowLongAGateMayTake(t *testing.T) {
	const short = `  procedure: {ramp: {warmupDuration: 0s, rampDuration: 1m, stepDuration: 1s, precision: 0%, confirmDuration: 0s, holdDuration: 0s}}
`
	single := onlySubject(t, router+absolute+short, Options{}).Bound
	if shortest, longest := time.Hour+2*6*time.Minute, time.Hour+2*10*time.Minute; single < shortest ||
		single > longest {
		t.Errorf("once takes %v at most, want between %v and %v", single, shortest, longest)
	}
	// and one that is repeated
	if five := onlySubject(t, router+absolute+short, Options{Runs: 5}).Bound; five-time.Hour != 3*(single-time.Hour) {
		t.Errorf("five times takes %v at most, and once %v", five, single)
	}
	if wide := onlySubject(t, matrix+absolute+"  parallelism: 8\n", Options{}).Bound; wide < onlySubject(t, matrix+
		absolute, Options{}).Bound {
		t.Errorf("side by side it takes %v at most, and there may be devices for one at a time only", wide)
	}
	hooks := strings.Replace(router, "    type: Pod\n", `    type: Pod
    readyDelay: 30s
    setup: {deadline: 3m, template: {spec: {containers: [{name: c, image: i}]}}}
    teardown: {deadline: 5m, template: {spec: {containers: [{name: c, image: i}]}}}
`, 1)
	// of the run, and of one that is repeated
	if hooked := onlySubject(t, hooks+absolute+short, Options{}).Bound; hooked-single != 2*(3*time.Minute+5*time.Minute+
		30*time.Second) {
		t.Errorf("it takes %v at most, %v of it for what is done before and after each run", hooked, hooked-single)
	}
	if limited := onlySubject(t, router+absolute+"  activeDeadline: 30m\n", Options{}).Bound; limited > time.Hour+
		2*36*time.Minute {
		t.Errorf("it takes %v at most, and a run of it at most 30 minutes", limited)
	}
}

// The LoadTest of the CI examples is one that a gate takes, with the images that the pipelines replace.
func TestTheLoadTestOfTheExamples(t *testing.T) {
	text, err := os.ReadFile("../../../examples/ci/router.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := onlySubject(t, string(text), Options{Images: images(t, "example.com/router=r:new"),
		BaselineImages: images(t, "example.com/router=r:old")})
	if s.Suite.Spec.Repetitions != DefaultRuns || imageOf(t, s, 0, 0) != "r:old" || imageOf(t, s, 1, 0) != "r:new" {
		t.Errorf("it is %+v", s.Suite.Spec)
	}
	if s.Bound > 340*time.Minute {
		t.Errorf("it may take %v, and the pipelines wait for 340 minutes", s.Bound)
	}
}
