package collect_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/collect"
)

// secrets is a folder of credentials, as a cluster mounts Secrets.
func secrets(t *testing.T, files map[string]string) collect.Folder {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return collect.Folder(folder)
}

// answered is the first answer of an observer that was asked for.
func answered(t *testing.T, o plan.Observer, credentials collect.Folder) observe.Answer {
	t.Helper()
	o.Name, o.Interval = "power", plan.Duration(time.Second)
	c := collect.Start(t.Context(), []plan.Observer{o}, credentials)
	defer c.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, answers := c.Answers()
		if len(answers) != 1 || answers[0].Observer != "power" {
			t.Fatalf("%+v, want the answer of one observer", answers)
		}
		if answers[0].At > 0 {
			return answers[0]
		}
		if time.Now().After(end) {
			t.Fatal("it is never answered")
		}
	}
}

// number is the one of a name and whose it is.
func number(t *testing.T, a observe.Answer, name, part string) observe.Number {
	t.Helper()
	for _, n := range a.Numbers {
		if n.Name == name && n.Part == part {
			return n
		}
	}
	t.Fatalf("no %s of %s in %+v (missing: %q)", name, part, a.Numbers, a.Missing)
	return observe.Number{}
}

// missing holds an answer that there is none of against why.
func missing(t *testing.T, a observe.Answer, want string) {
	t.Helper()
	if len(a.Numbers) != 0 || !strings.Contains(a.Missing, want) {
		t.Errorf("%+v, want none because of %q", a, want)
	}
}

// A number was taken at some moment between question and answer. The answer says how far they are apart.
func TestAnAnswerTellsHowLongItTook(t *testing.T) {
	const slow = 50 * time.Millisecond
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(slow)
		_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}`)
	}))
	t.Cleanup(s.Close)
	if a := answered(t, query(s.URL, "scalar(x)"), ""); a.Took < slow || a.At < a.Took/2 {
		t.Errorf("%+v, want that it took %s, and is of the middle", a, slow)
	}
}

func TestNobodyWaitsForAnAnswer(t *testing.T) {
	c := collect.Start(t.Context(), []plan.Observer{{Name: "power", Interval: plan.Duration(time.Hour),
		Prometheus: &plan.PrometheusQuery{URL: "http://192.0.2.1:9090", Query: "up"}}}, "")
	defer c.Close()
	if newest := c.Newest(); len(newest.Answers) != 1 || newest.Answers[0].Missing != "there is no answer yet" &&
		!strings.Contains(newest.Answers[0].Missing, "192.0.2.1") {
		t.Errorf("%+v", newest)
	}
}
