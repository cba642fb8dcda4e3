package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/prometheus/promql"
)

// The metrics of a real manager in a played morning (test/api/operator writes them), as Prometheus would have scraped them every 15 s:
//
//	start            sessions         during               end
//	├────────────────┼────────────────┼────────────────────┼───────────────────┤
//	0                1 min            2 min                6 min               10 min
//	nothing was run  TCP is measured  one runs, one waits  three were measured
const (
	interval  = 15 * time.Second
	tcpFrom   = time.Minute
	busyFrom  = 2 * time.Minute
	quietFrom = 6 * time.Minute
	over      = 10 * time.Minute
)

var morning = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// scraped is a Prometheus that saw the morning.
func scraped(t *testing.T) *prometheus {
	t.Helper()
	p := newPrometheus(t)
	for at := time.Duration(0); at <= over; at += interval {
		switch {
		case at < tcpFrom:
			p.append(at, read(t, "test/api/chart/testdata/scrapes/start.txt"))
		case at < busyFrom:
			p.append(at, read(t, "test/api/chart/testdata/scrapes/sessions.txt"))
		case at < quietFrom:
			p.append(at, read(t, "test/api/chart/testdata/scrapes/during.txt"))
		default:
			p.append(at, read(t, "test/api/chart/testdata/scrapes/end.txt"))
		}
	}
	return p
}

// filled is a query of the dashboard as Grafana asks it, with all namespaces and products.
func filled(expr string) string {
	return strings.NewReplacer("$namespace", ".*", "$product", ".*", "$__rate_interval", "1m", "$__range", "10m").Replace(expr)
}

func TestNoPanelOfTheDashboardIsEmpty(t *testing.T) {
	p := scraped(t)
	for _, panel := range theDashboard(t).Panels {
		for _, q := range panel.Targets {
			t.Run(panel.Title+" "+q.RefID, func(t *testing.T) {
				p.t = t
				expr := filled(q.Expr)
				if q.Instant {
					for _, at := range []time.Duration{busyFrom + interval, over} {
						if len(p.at(expr, at)) == 0 {
							t.Errorf("nothing at %s: %s", at, expr)
						}
					}
					return
				}
				if !says(p.over(expr)) {
					t.Errorf("nothing in the whole morning: %s", expr)
				}
			})
		}
	}
}

func says(answer promql.Matrix) bool {
	for _, s := range answer {
		for _, point := range s.Floats {
			if !math.IsNaN(point.F) {
				return true
			}
		}
	}
	return false
}

func TestTheDashboardIsTrue(t *testing.T) {
	p, running := scraped(t), busyFrom+interval
	d := theDashboard(t)
	query := func(title string) string {
		for _, panel := range d.Panels {
			if panel.Title == title {
				return filled(panel.Targets[0].Expr)
			}
		}
		t.Fatalf("there is no panel %s", title)
		return ""
	}
	for _, c := range []struct {
		title string
		at    time.Duration
		want  float64
	}{
		{"Running", running, 1}, {"Running", over, 0}, {"Waiting", running, 1}, {"Measured", over, 3}, {"Failed", over, 1},
		{"Devices in use", 0, 0}, {"Devices in use", running, 4.0 / 32}, {"Received and sent", running, 8_316_000}, {"Lost", running, 0.01},
		{"Goodput", tcpFrom + interval, 92_900_000}, {"Results of sessions", over, 93_000_000},
	} {
		if got := p.at(query(c.title), c.at); len(got) != 1 || got[0].F != c.want {
			t.Errorf("%s at %s is %v, want %v", c.title, c.at, got, c.want)
		}
	}
	for title, tests := range map[string]int{"Results": 2, "Results of sessions": 1} { // a test stands in the table of what it counts, with all of its figures
		i := slices.IndexFunc(d.Panels, func(panel panel) bool { return panel.Title == title && panel.Type == "table" })
		for _, q := range d.Panels[i].Targets {
			if got := p.at(filled(q.Expr), over); len(got) != tests {
				t.Errorf("%s %s has %d tests, want %d: %v", title, q.RefID, len(got), tests, got)
			}
		}
	}
	if got := p.at(query("Received and sent"), over+5*time.Minute); len(got) != 0 {
		t.Errorf("nothing runs, and %v", got)
	}
}

// rules are the chart's alerts, read strictly.
func rules(t *testing.T, manifest string) map[string]monitoringv1.Rule {
	t.Helper()
	named := map[string]monitoringv1.Rule{}
	for _, group := range only[monitoringv1.PrometheusRule](t, manifest, "PrometheusRule").Spec.Groups {
		for _, rule := range group.Rules {
			named[rule.Alert] = rule
		}
	}
	return named
}

const withRules = "metrics: {rules: {create: true}}"

func TestAlertsFireWhenTheyShould(t *testing.T) {
	during := read(t, "test/api/chart/testdata/scrapes/during.txt")
	alerts := rules(t, render(t, withRules).manifest)
	cases := map[string]struct {
		alert   string
		scrapes []string
		fires   bool
	}{
		"no test waits long":         {"LinerateTestWaits", []string{during}, false},
		"one has waited an hour":     {"LinerateTestWaits", []string{during + "\nlinerate_oldest_waiting_seconds 3601\n"}, true},
		"the operator is scraped":    {"LinerateOperatorDown", []string{during}, false},
		"only a replica that waits":  {"LinerateOperatorDown", []string{"linerate_status_conflicts_total 0\n"}, true},
		"the operator isn't scraped": {"LinerateOperatorDown", nil, true},
		"no run is lost":             {"LinerateRunsLost", []string{during, during}, false},
		"a runner is lost":           {"LinerateRunsLost", []string{during, lost(during, "RunnerFailed")}, true},
		"the test was suspended":     {"LinerateRunsLost", []string{during, lost(during, "Suspended")}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPrometheus(t)
			for i, scrape := range c.scrapes {
				p.append(time.Duration(i)*interval, lastOfEach(scrape))
			}
			rule, known := alerts[c.alert]
			if !known {
				t.Fatalf("there is no alert %s", c.alert)
			}
			got := p.at(rule.Expr.String(), time.Duration(len(c.scrapes))*interval)
			if (len(got) > 0) != c.fires {
				t.Errorf("%s: %v", rule.Expr.String(), got)
			}
		})
	}
	documented := read(t, "docs/observability.md")
	for name, rule := range alerts {
		if !strings.Contains(documented, "| `"+name+"` |") || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s isn't documented, or says too little: %+v", name, rule)
		}
	}
	if len(alerts) != 3 {
		t.Errorf("%d alerts", len(alerts))
	}
	if diff := cmp.Diff(alerts, rules(t, kustomize(t, "config/prometheus"))); diff != "" {
		t.Errorf("the chart's (-), kustomize's (+):\n%s", diff)
	}
	later := rules(t, render(t, "metrics: {rules: {create: true, waitingSeconds: 60}}").manifest)["LinerateTestWaits"]
	if got := later.Expr.String(); got != "linerate_oldest_waiting_seconds > 60" {
		t.Errorf("with another bound: %s", got)
	}
}

func lost(scrape, reason string) string {
	series := `linerate_lost_runs_total{reason="` + reason + `"} `
	return strings.Replace(scrape, series+"0", series+"1", 1)
}

// lastOfEach lets a line that is added win over the one that was there.
func lastOfEach(scrape string) string {
	last := scrape[strings.LastIndex(strings.TrimSpace(scrape), "\n")+1:]
	name, _, _ := strings.Cut(last, " ")
	var kept strings.Builder
	for line := range strings.Lines(scrape) {
		if !strings.HasPrefix(line, name+" ") {
			kept.WriteString(line)
		}
	}
	return kept.String() + last
}
