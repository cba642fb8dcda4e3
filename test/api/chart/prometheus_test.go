package chart

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// prometheus is its query engine over what was scraped, which is kept in memory.
type prometheus struct {
	t      *testing.T
	engine *promql.Engine
	series map[string]*series
}

type series struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// sample is a figure at a time.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                     { return s.at }
func (sample) ST() int64                      { return 0 }
func (s sample) F() float64                   { return s.value }
func (sample) H() *histogram.Histogram        { return nil }
func (sample) FH() *histogram.FloatHistogram  { return nil }
func (sample) Type() chunkenc.ValueType       { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample          { return s }
func (s *series) last() chunks.Sample         { return s.samples[len(s.samples)-1] }
func (s *series) add(at int64, value float64) { s.samples = append(s.samples, sample{at, value}) }

func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
	return &prometheus{t: t, engine: engine, series: map[string]*series{}}
}

// append keeps a scrape as one made at a time of the morning. What was there before and isn't any more is marked as stale.
func (p *prometheus) append(at time.Duration, scrape string) {
	p.t.Helper()
	text := expfmt.NewTextParser(model.LegacyValidation)
	families, err := text.TextToMetricFamilies(strings.NewReader(scrape))
	must(p.t, err)
	when := model.TimeFromUnixNano(morning.Add(at).UnixNano())
	for _, f := range families {
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: when}, f)
		must(p.t, err)
		for _, s := range samples {
			p.of(target(s.Metric)).add(int64(when), float64(s.Value))
		}
	}
	for _, s := range p.series {
		if last := s.last(); last.T() < int64(when) && !value.IsStaleNaN(last.F()) {
			s.add(int64(when), math.Float64frombits(value.StaleNaN))
		}
	}
}

func (p *prometheus) of(l labels.Labels) *series {
	key := l.String()
	if p.series[key] == nil {
		p.series[key] = &series{labels: l}
	}
	return p.series[key]
}

// target adds what Prometheus knows of whom it scrapes, where the metric doesn't say it itself (honorLabels).
func target(metric model.Metric) labels.Labels {
	b := labels.NewBuilder(labels.FromStrings("job", "linerate-metrics", "instance", "10.0.0.1:8443", "namespace", releaseNamespace))
	for name, value := range metric {
		b.Set(string(name), string(value))
	}
	return b.Labels()
}

// at is a query's answer at one time, as far as it has a value.
func (p *prometheus) at(expr string, at time.Duration) promql.Vector {
	p.t.Helper()
	q, err := p.engine.NewInstantQuery(p.t.Context(), p, nil, expr, morning.Add(at))
	must(p.t, err)
	defer q.Close()
	result := q.Exec(context.Background())
	must(p.t, result.Err)
	vector, err := result.Vector()
	must(p.t, err)
	return slices.DeleteFunc(vector, func(s promql.Sample) bool { return math.IsNaN(s.F) })
}

// over is a query's answer over the whole morning.
func (p *prometheus) over(expr string) promql.Matrix {
	p.t.Helper()
	q, err := p.engine.NewRangeQuery(p.t.Context(), p, nil, expr, morning, morning.Add(over), interval)
	must(p.t, err)
	defer q.Close()
	result := q.Exec(context.Background())
	must(p.t, result.Err)
	matrix, err := result.Matrix()
	must(p.t, err)
	return slices.Clone(matrix)
}

// Querier implements storage.Queryable.
func (p *prometheus) Querier(_, _ int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		set := &seriesSet{}
		for _, s := range p.series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
				set.all = append(set.all, storage.NewListSeries(s.labels, s.samples))
			}
		}
		slices.SortFunc(set.all, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
		return set
	}}, nil
}

// seriesSet goes through series.
type seriesSet struct {
	all  []storage.Series
	next int
}

func (s *seriesSet) Next() bool         { s.next++; return s.next <= len(s.all) }
func (s *seriesSet) At() storage.Series { return s.all[s.next-1] }
func (*seriesSet) Err() error           { return nil }

// Warnings implements storage.SeriesSet: there are none.
func (*seriesSet) Warnings() annotations.Annotations { return nil }
