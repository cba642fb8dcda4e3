package collect_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// temperatures is what Prometheus 2.42 answers for two series of a node's sensors, and for when they were scraped.
const (
	temperatures = `{"status":"success","data":{"resultType":"vector","result":[` +
		`{"metric":{"__name__":"node_hwmon_temp_celsius","instance":"dut","sensor":"temp1"},` +
		`"value":[1764118800.5,"54.5"]},` +
		`{"metric":{"__name__":"node_hwmon_temp_celsius","instance":"dut","sensor":"temp2"},"value":[1764118800.5,` +
		`"NaN"]}]}}`
	scrapes = `{"status":"success","data":{"resultType":"vector","result":[` +
		`{"metric":{"instance":"dut","sensor":"temp1"},"value":[1764118800.5,"1764118793.25"]},` +
		`{"metric":{"instance":"dut","sensor":"temp2"},"value":[1764118800.5,"1764118793.25"]}]}}`
)

// server answers known queries as given, and others with an error of Prometheus' own.
func server(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.FormValue("query")]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != "/api/v1/query":
			http.NotFound(w, r)
		case !ok:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"status":"error","errorType":"bad_data","error":"invalid parameter `+
				`\"query\": 1:4: parse error: unexpected end of input"}`)
		default:
			_, _ = io.WriteString(w, answer)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func query(url, query string) plan.Observer {
	return plan.Observer{Type: plan.ObservePrometheus, Prometheus: &plan.PrometheusQuery{URL: url, Query: query,
		Unit: "°C"}}
}

func TestPrometheusTellsASeriesAndHowOldItIs(t *testing.T) {
	const q = `node_hwmon_temp_celsius{instance="dut"}`
	a := answered(t, query(server(t, map[string]string{q: temperatures, "timestamp(" + q + "\n)": scrapes}), q), "")
	n := number(t, a, "value", `instance="dut", sensor="temp1"`)
	if n.Value != 54.5 || n.Unit != "°C" || n.Kind != report.Gauge || n.Age != 7250*time.Millisecond ||
		n.Stamp != 1764118793.25 {
		t.Errorf("%+v, want 54.5 °C, scraped 7.25 s before", n)
	}
	if n := number(t, a, "value", `instance="dut", sensor="temp2"`); n.Missing != "what it answers is no number (NaN "+
		"or infinite)" {
		t.Errorf("%+v: NaN is no number", n)
	}
}

// A sample with an infinite time is no number. The other samples reach the collector's clients, in JSON.
func TestASampleOfAnInfiniteTimeKeepsNoOtherFromTheRunner(t *testing.T) {
	const q = "temperature"
	vector := func(first, second string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"sensor":"a"},"value":[5,"` +
			first + `"]},{"metric":{"sensor":"b"},"value":[5,"` + second + `"]}]}}`
	}
	for _, infinite := range []string{"+Inf", "-Inf", "NaN"} {
		a := answered(t, query(server(t, map[string]string{q: vector("40", "50"), "timestamp(" + q +
			"\n)": vector(infinite, "4")}), q), "")
		if n := number(t, a, "value", `sensor="a"`); n.Missing == "" {
			t.Errorf("%s: %+v", infinite, n)
		}
		if n := number(t, a, "value", `sensor="b"`); n.Value != 50 || n.Missing != "" {
			t.Errorf("%s: beside it is %+v", infinite, n)
		}
		if text, err := json.Marshal(a); err != nil {
			t.Errorf("%s: %v, and of %d bytes the runner gets none", infinite, err, len(text))
		}
	}
}

func TestPrometheusTellsAScalar(t *testing.T) {
	a := answered(t, query(server(t, map[string]string{"scalar(x)": `{"status":"success",` +
		`"data":{"resultType":"scalar","result":[1764118800.5,"3"]}}`}), "scalar(x)"), "")
	if n := number(t, a, "value", "all"); n.Value != 3 || n.Age != 0 {
		t.Errorf("%+v, want 3, of now as far as anybody knows", n)
	}
}

func TestWhatPrometheusCantTellIsMissing(t *testing.T) {
	series := []string{}
	for i := range 17 {
		series = append(series, fmt.Sprintf(`{"metric":{"cpu":"%d"},"value":[1,"1"]}`, i))
	}
	vector := func(results string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + results + `]}}`
	}
	url := server(t, map[string]string{
		"nothing": vector(""), "many": vector(strings.Join(series, ",")),
		"names": vector(`{"metric":{"__name__":"a","cpu":"0"},"value":[1,"1"]},{"metric":{"__name__":"b",` +
			`"cpu":"0"},"value":[1,"2"]}`),
		"x[5m]": `{"status":"success","data":{"resultType":"matrix","result":[]}}`, "broken": `{"status":`,
		"string": `{"status":"success","data":{"resultType":"string","result":[1764118800.5,"hello"]}}`,
	})
	for q, want := range map[string]string{
		"nothing": url + ": it has no series for the query",
		"many":    "the query gives 17 series, and 16 are followed at most",
		"names":   "two series differ in their name alone, or after 200 bytes of labels: ask for one",
		"x[5m]":   "the query gives a matrix: ask for one number of each series",
		"sum(":    `it answers bad_data: invalid parameter "query": 1:4: parse error`,
		"broken":  "it doesn't answer as a Prometheus server does: url is the server's own",
		"string":  "the query gives a string: ask for one number of each series",
	} {
		t.Run(q, func(t *testing.T) { missing(t, answered(t, query(url, q), ""), want) })
	}
}

func TestWhoIsNotThereIsMissing(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	missing(t, answered(t, query(s.URL, "up"), ""), s.URL+": dial: ")
}

// Each of these is another server than url says.
func TestAnotherServerThanAPrometheusIsNamed(t *testing.T) {
	plain, secured := httptest.NewServer(nil), httptest.NewTLSServer(nil)
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		_, _ = io.WriteString(w, "<html>node_exporter</html>")
	}))
	ending := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		panic(http.ErrAbortHandler)
	}))
	for _, s := range []*httptest.Server{plain, secured, exporter, ending} {
		t.Cleanup(s.Close)
	}
	secured.Config.ErrorLog = log.New(io.Discard, "", 0)
	for url, want := range map[string]string{
		"https" + strings.TrimPrefix(plain.URL, "http"): "it speaks http, and not https: begin its url with http://",
		exporter.URL: "it doesn't answer as a Prometheus server does",
		ending.URL:   "it ended the connection without an answer: it may have been restarted, or want https",
	} {
		missing(t, answered(t, query(url, "up"), ""), want)
	}
}

// guarded answers who shows this header, and refuses others.
func guarded(t *testing.T, authorization string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != authorization {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestCredentialsAreShownAndNamedWhereTheyAreRefused(t *testing.T) {
	credentials := secrets(t, map[string]string{"prom/token": "abc\n", "wrong/token": "xyz", "empty/other": "x",
		"user/username": "me", "user/password": "pass"})
	for _, c := range []struct{ name, secret, authorization, want string }{
		{"a token", "prom", "Bearer abc", ""},
		{"a user and a password", "user", "Basic bWU6cGFzcw==", ""},
		{"another one's", "wrong", "Bearer abc", "401 Unauthorized: it doesn't take what secret wrong has"},
		{"none", "", "Bearer abc", "401 Unauthorized: no credentials were shown: name a Secret as secretName"},
		{"a Secret without them", "empty", "Bearer abc",
			"secret empty has none of the keys username and password, token, ca.crt"},
		{"a Secret that isn't there", "gone", "Bearer abc", "secret gone isn't there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := query(guarded(t, c.authorization), "scalar(x)")
			o.Prometheus.Secret = c.secret
			a := answered(t, o, credentials)
			if c.want != "" {
				missing(t, a, c.want)
				return
			}
			if n := number(t, a, "value", "all"); n.Value != 7 {
				t.Errorf("%+v, want 7", n)
			}
		})
	}
	o := query(guarded(t, ""), "scalar(x)")
	o.Prometheus.Secret = "prom"
	missing(t, answered(t, o, ""), "secret prom: nobody said where it is: give --credentials a folder that has "+
		"prom/username")
}

// A server may redirect the collector. The credentials don't follow.
func TestNoRedirectionIsFollowed(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(elsewhere.Close)
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	o := query(s.URL, "up")
	o.Prometheus.Secret = "prom"
	missing(t, answered(t, o, secrets(t, map[string]string{"prom/token": "abc"})),
		"it doesn't answer as a Prometheus server does")
	if asked {
		t.Error("it was followed")
	}
}
