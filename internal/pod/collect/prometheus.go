package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// mostSeries is how many series a query may give. Each series is a track of the page, and a row of each window.
const mostSeries = 16

// prometheus is a server that answers queries.
type prometheus struct {
	query  plan.PrometheusQuery
	client *http.Client
	api    prometheusv1.API
}

func newPrometheus(q plan.PrometheusQuery, s secret) (source, error) {
	client, err := newWeb(s)
	if err != nil {
		return nil, err
	}
	c, err := api.NewClient(api.Config{Address: q.URL, Client: client})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.URL, err)
	}
	return prometheus{q, client, prometheusv1.NewAPI(c)}, nil
}

// ask asks the query, and then when its samples were scraped, as the answer itself has only the time at which
// it was evaluated.
func (p prometheus) ask(ctx context.Context) (r reading, err error) {
	defer p.client.CloseIdleConnections()
	answer, _, err := p.api.Query(ctx, p.query.Query, time.Time{})
	if err != nil {
		return r, prometheusError(err)
	}
	samples, err := samplesOf(answer)
	if err != nil {
		return r, err
	}
	for i, s := range samples {
		duplicate := func(earlier *model.Sample) bool { return labels(earlier.Metric) == labels(s.Metric) }
		if slices.ContainsFunc(samples[:i], duplicate) {
			return r, fmt.Errorf("two series differ in their name alone, or after %d bytes of labels: ask for one",
				mostLine)
		}
	}
	scraped := p.scraped(ctx, samples[0].Timestamp)
	for _, s := range samples {
		n := observe.Number{Name: "value", Part: labels(s.Metric), Unit: p.query.Unit, Kind: report.Gauge,
			Value: float64(s.Value)}
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			n.Value, n.Missing = 0, "what it answers is no number (NaN or infinite)"
		}
		if scrape, ok := scraped[n.Part]; ok {
			n.Age, n.Stamp = max(0, seconds(float64(s.Timestamp)/1000-scrape)), scrape
		}
		r.numbers = append(r.numbers, n)
	}
	return r, nil
}

// scraped are the times, in seconds, of the samples behind an answer, by their labels. A plain series has the
// time at which it was scraped, an expression the time at which it was evaluated. There are none where the
// server can't say, as of a scalar.
func (p prometheus) scraped(ctx context.Context, evaluated model.Time) map[string]float64 {
	answer, _, err := p.api.Query(ctx, "timestamp("+p.query.Query+"\n)", evaluated.Time()) // "\n" ends a comment
	if err != nil {
		return nil
	}
	samples, err := samplesOf(answer)
	if err != nil {
		return nil
	}
	times := map[string]float64{}
	for _, s := range samples {
		times[labels(s.Metric)] = float64(s.Value)
	}
	return times
}

func samplesOf(answer model.Value) (model.Vector, error) {
	var samples model.Vector
	switch v := answer.(type) {
	case *model.Scalar:
		samples = model.Vector{{Value: v.Value, Timestamp: v.Timestamp}}
	case model.Vector:
		samples = v
	default:
		return nil, fmt.Errorf("the query gives a %s: ask for one number of each series, such as without [5m]",
			answer.Type())
	}
	switch {
	case len(samples) == 0:
		return nil, errors.New("it has no series for the query")
	case len(samples) > mostSeries:
		return nil, fmt.Errorf("the query gives %d series, and %d are followed at most: name labels in it, or "+
			"sum them up", len(samples), mostSeries)
	}
	return samples, nil
}

// labels are a series' labels without its name, such as instance="dut", sensor="temp1".
func labels(m model.Metric) string {
	m = m.Clone()
	delete(m, model.MetricNameLabel)
	if len(m) == 0 {
		return "all"
	}
	return oneLine(strings.Trim(m.String(), "{}"))
}

// prometheusError is what the server says is wrong.
func prometheusError(err error) error {
	switch answer, ok := errors.AsType[*prometheusv1.Error](err); {
	case strings.Contains(err.Error(), `unexpected value type "string"`): // as the library says
		return errors.New("the query gives a string: ask for one number of each series")
	case ok && answer.Type == prometheusv1.ErrBadResponse:
		return errors.New("it doesn't answer as a Prometheus server does: url is the server's own, and no exporter's " +
			"or other page's")
	case ok:
		return fmt.Errorf("it answers %s: %s", answer.Type, oneLine(answer.Msg))
	}
	return plainly(err)
}
