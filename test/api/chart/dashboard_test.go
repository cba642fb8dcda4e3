package chart

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// dashboard is what Grafana's schema of dashboards (version 39) has, as far as ours uses it: a field that isn't here is a mistake.
type dashboard struct {
	UID, Title, Description, Refresh, Timezone, WeekStart string
	SchemaVersion, Version, GraphTooltip                  int
	FiscalYearStartMonth                                  int
	Editable, LiveNow                                     bool
	Tags, Links                                           []string
	Time                                                  struct{ From, To string }
	Timepicker                                            struct{}
	Annotations                                           struct{ List []struct{} }
	Templating                                            struct{ List []variable }
	Panels                                                []panel
}

type variable struct {
	Name, Label, Type, Definition, Regex, AllValue string
	Query, Current                                 any
	Datasource                                     *source
	Refresh, Sort, Hide                            int
	Multi, IncludeAll                              bool
	Options                                        []struct{}
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Collapsed                bool
	Panels                   []panel
	Datasource               *source
	Targets                  []query
	FieldConfig              struct {
		Defaults  map[string]any
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value any
			}
		}
	}
	Options         map[string]any
	Transformations []struct {
		ID      string
		Options map[string]any
	}
}

type query struct {
	RefID, Expr, LegendFormat, Format string
	Datasource                        *source
	Instant                           bool
	Range                             *bool
}

func theDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	decoder := json.NewDecoder(strings.NewReader(read(t, "charts/linerate/dashboards/linerate.json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDashboardIsOnlyThereWhereItIsWanted(t *testing.T) {
	const name = "linerate-dashboard"
	find := func(values, namespace string) *corev1.ConfigMap {
		return find[*corev1.ConfigMap](t, objects(t, render(t, values).manifest), namespace, name)
	}
	if n := count[*corev1.ConfigMap](objects(t, render(t, "").manifest)); n != 0 {
		t.Errorf("%d ConfigMaps without being asked for", n)
	}
	made := find("metrics: {dashboard: {create: true, annotations: {grafana_folder: lab}}}", releaseNamespace)
	if made.Labels["grafana_dashboard"] != "1" || made.Annotations["grafana_folder"] != "lab" {
		t.Errorf("labels %v, annotations %v", made.Labels, made.Annotations)
	}
	if diff := cmp.Diff(strings.TrimSpace(read(t, "charts/linerate/dashboards/linerate.json")), made.Data["linerate.json"]); diff != "" {
		t.Errorf("the file (-), what Grafana gets (+):\n%s", diff)
	}
	find("metrics: {dashboard: {create: true, namespace: monitoring}}", "monitoring")
}

// The Prometheus Operator finds the Service that there is, and asks the port that it has.
func TestTheServiceIsFound(t *testing.T) {
	for way, c := range map[string]struct{ monitor, service string }{
		"the chart": {render(t, "metrics: {serviceMonitor: {create: true, interval: 5s, labels: {release: prometheus}}}").manifest, render(t, "").manifest},
		"kustomize": {kustomize(t, "config/prometheus"), kustomize(t, "config/default")},
	} {
		m, all := only[monitoringv1.ServiceMonitor](t, c.monitor, "ServiceMonitor"), objects(t, c.service)
		i := slices.IndexFunc(all, func(o object) bool { _, is := o.(*corev1.Service); return is })
		service, asked := all[i].(*corev1.Service), m.Spec.Endpoints
		if !subset(m.Spec.Selector.MatchLabels, service.Labels) || len(asked) != 1 || asked[0].Port != service.Spec.Ports[0].Name {
			t.Errorf("%s: %v doesn't lead to %v", way, m.Spec, service)
		}
		if !asked[0].HonorLabels || asked[0].Interval == "" {
			t.Errorf("%s: %+v", way, asked[0])
		}
		if way == "the chart" && (m.Labels["release"] != "prometheus" || asked[0].Interval != "5s" || !slices.Equal(m.Spec.NamespaceSelector.MatchNames, []string{service.Namespace})) {
			t.Errorf("%s: labels %v, %+v", way, m.Labels, m.Spec)
		}
	}
	if strings.Contains(render(t, "").manifest, "monitoring.coreos.com") {
		t.Error("it is made without being asked for, and the cluster may not know the kind")
	}
}

// only is the one object of a kind that needs no other definition here, read strictly.
func only[T any](t *testing.T, manifest, kind string) (found T) {
	t.Helper()
	n := 0
	for _, document := range documents(t, manifest) {
		if strings.Contains("\n"+string(document), "\nkind: "+kind+"\n") {
			must(t, yaml.UnmarshalStrict(document, &found))
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d of kind %s", n, kind)
	}
	return found
}

func TestTheDashboardsPanelsHaveTheirPlace(t *testing.T) {
	d, ids, taken := theDashboard(t), map[int]bool{}, map[[2]int]string{}
	kinds := []string{"row", "stat", "timeseries", "table"}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || !slices.Contains(kinds, p.Type) || p.Title == "" {
			t.Errorf("panel %d %q of type %s", p.ID, p.Title, p.Type)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s is at %+v, and there are 24 columns", p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				place := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, is := taken[place]; is {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[place] = p.Title
			}
		}
		if p.Type != "row" && (p.Description == "" || p.Datasource == nil || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0) {
			t.Errorf("%s has no description, no query, or a data source of its own", p.Title)
		}
	}
	if d.UID != "linerate" || len(ids) < 20 {
		t.Errorf("%s has %d panels", d.UID, len(ids))
	}
}

// What a query refers to exists: its variables, and in docs/observability.md our metrics. What is renamed or has a unit in a table is a query's.
func TestTheDashboardsReferencesExist(t *testing.T) {
	d, documented := theDashboard(t), read(t, "docs/observability.md")
	known := []string{"__rate_interval", "__range"}
	for _, v := range d.Templating.List {
		known = append(known, v.Name)
	}
	metric, used := regexp.MustCompile(`linerate_[a-z0-9_]+`), regexp.MustCompile(`\$\{?(\w+)`)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for _, name := range metric.FindAllString(q.Expr, -1) {
				if !strings.Contains(documented, "`"+strings.TrimSuffix(name, "_bucket")+"`") {
					t.Errorf("%s asks for %s, which docs/observability.md doesn't know", p.Title, name)
				}
			}
			for _, match := range used.FindAllStringSubmatch(q.Expr, -1) {
				if !slices.Contains(known, match[1]) {
					t.Errorf("%s has $%s, and there is no such variable", p.Title, match[1])
				}
			}
		}
		for _, o := range p.FieldConfig.Overrides {
			if !slices.ContainsFunc(p.Targets, func(q query) bool { return o.Matcher.Options == fmt.Sprintf("Value #%s", q.RefID) }) {
				t.Errorf("%s says how %s looks, which no query gives", p.Title, o.Matcher.Options)
			}
		}
	}
}
