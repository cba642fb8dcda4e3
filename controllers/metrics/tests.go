package metrics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// freshFor is how long a runner's progress counts as current. The runner reports every 10 s at the latest, and
// nodes' clocks differ a little.
const freshFor = time.Minute

var (
	descProgress = describeTest("linerate_loadtest_progress_ratio",
		"How much of a running test's time is over, from 0 to 1.")
	descOffered = describeTest("linerate_loadtest_offered_packets_per_second",
		"What a running test sends at the moment, all directions together.")
	descReceived = describeTest("linerate_loadtest_received_packets_per_second",
		"What comes back to a running test at the moment, all directions together.")
	descLoss = describeTest("linerate_loadtest_loss_ratio",
		"A running test's loss at the moment in its worst direction, as a share of the frames sent; below 0 where "+
			"more came back.")
	descGoodput = describeTest("linerate_loadtest_goodput_bytes_per_second",
		"Payload that comes to the receivers of a running test of sessions at the moment, all directions together; "+
			"times 8 it is bits.")

	descResultPackets = describeTest("linerate_loadtest_result_packets_per_second",
		"The result: what came back at the highest load that was carried, all directions together.")
	descResultBytes = describeTest("linerate_loadtest_result_layer1_bytes_per_second",
		"The result in bytes per second on the wire, with preamble and gap; times 8 it is bits.")
	descResultLineRate = describeTest("linerate_loadtest_result_line_rate_ratio",
		"The result in relation to what the links can carry, from 0 to 1.")
	descResultLoss = describeTest("linerate_loadtest_result_loss_ratio",
		"The most that may have been lost at the result, as a share of the frames sent.")
	descResultSaturated = describeTest("linerate_loadtest_result_saturated",
		"1: the result is the device's limit; 0: it is a lower bound.")

	descResultGoodput = describeTest("linerate_loadtest_result_goodput_bytes_per_second",
		"The result of sessions: payload that receiving programs read, all directions together; times 8 it is bits.")
	descResultPathLimited = describeTest("linerate_loadtest_result_path_limited",
		"1: the path between the ends limited the sessions; 0: an end did, other programs had the processors, or it "+
			"isn't known what did, and the goodput is a lower bound.")
	descResultRetransmits = describeTest("linerate_loadtest_result_retransmit_ratio",
		"Segments that sessions retransmitted, as a share of all segments, from 0 to 1; missing where the ends or "+
			"the machine may have caused them.")
	descResultRoundTrip = describeTest("linerate_loadtest_result_round_trip_seconds",
		"The mean of the smoothed round trips of the senders of sessions; missing where none was seen, or where the "+
			"ends or the machine may have caused them.")

	descPassed = describeTest("linerate_loadtest_passed",
		"The criteria's verdict: 1 all are met, 0 one isn't; not there where there is no verdict.")
	descFinished = describeTest("linerate_loadtest_finished_timestamp_seconds",
		"When a measured test was complete, in seconds since 1970.")

	descLeftOut = describe("linerate_loadtests_left_out",
		"LoadTests whose own figures are left out because there are more of them than --metrics-tests.")
)

func describeTest(name, help string) *prometheus.Desc {
	return describe(name, help, "namespace", "loadtest", "product")
}

func testDescs() []*prometheus.Desc {
	return []*prometheus.Desc{
		descProgress, descOffered, descReceived, descLoss, descGoodput, descResultPackets, descResultBytes,
		descResultLineRate, descResultLoss, descResultSaturated,
		descResultGoodput, descResultPathLimited, descResultRetransmits, descResultRoundTrip,
		descPassed, descFinished, descLeftOut,
	}
}

// figures are the series of single tests that run or were measured, up to a bound.
func (s *states) figures(ctx context.Context, tests []v1alpha1.LoadTest) ([]prometheus.Metric, error) {
	exported, leftOut := chosen(tests, s.MaxTests)
	metrics := []prometheus.Metric{gauge(descLeftOut, float64(leftOut))}
	for _, test := range exported {
		if StateOf(&test.Status) != stateRunning {
			metrics = append(metrics, resultFigures(test)...)
			continue
		}
		progress, err := s.progressOf(ctx, test)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, runFigures(test, progress)...)
	}
	return metrics, nil
}

// chosen are at most maxTests of the tests that have figures. Running tests come first, then those that ended
// last. leftOut is how many others there are.
func chosen(tests []v1alpha1.LoadTest, maxTests int) (shown []*v1alpha1.LoadTest, leftOut int) {
	for i := range tests {
		if state := StateOf(&tests[i].Status); state == stateRunning || state == stateMeasured {
			shown = append(shown, &tests[i])
		}
	}
	slices.SortFunc(shown, func(a, b *v1alpha1.LoadTest) int {
		return cmp.Or(ended(b.Status.CompletionTime).Compare(ended(a.Status.CompletionTime)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	room := min(len(shown), maxTests)
	return shown[:room], len(shown) - room
}

// ended is when a test or a suite was complete. An ongoing one counts as later than all others.
func ended(finished *metav1.Time) time.Time {
	if finished == nil {
		return time.Unix(1<<40, 0)
	}
	return finished.Time
}

// progressOf is the latest progress of a test's runner. It is nil if there is none, or if it is too old.
func (s *states) progressOf(ctx context.Context, test *v1alpha1.LoadTest) (*delivery.Progress, error) {
	var configMap corev1.ConfigMap
	name := client.ObjectKey{Namespace: s.OperatorNamespace, Name: manifests.ProgressName(test, test.Status.Attempt)}
	if err := s.Progress.Get(ctx, name, &configMap); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("get progress: %w", err)
	}
	p, err := delivery.DecodeProgress(configMap.Data)
	fresh := err == nil && p != nil && s.Clock().Sub(p.UpdateTime).Abs() <= freshFor
	if !fresh || configMap.Labels[v1alpha1.LabelUID] != string(test.UID) || p.Attempt != int(test.Status.Attempt) {
		return nil, nil // missing progress is no error, and the controller reports unreadable progress
	}
	return p, nil
}

func runFigures(test *v1alpha1.LoadTest, p *delivery.Progress) []prometheus.Metric {
	if p == nil {
		return nil
	}
	labels := labelsOf(test)
	metrics := []prometheus.Metric{gauge(descProgress, float64(p.Percent)/100, labels...)}
	if test.Spec.Traffic.Type == v1alpha1.TrafficSessions { // which count no frames
		if p.GoodputBitsPerSecond == nil {
			return metrics
		}
		return append(metrics, gauge(descGoodput, float64(*p.GoodputBitsPerSecond)/8, labels...))
	}
	metrics = append(metrics,
		gauge(descOffered, float64(p.OfferedPacketsPerSecond), labels...),
		gauge(descReceived, float64(p.ReceivedPacketsPerSecond), labels...))
	return appendText(metrics, descLoss, p.LossRatio, 1, labels)
}

// resultFigures are the series of a result.
func resultFigures(test *v1alpha1.LoadTest) []prometheus.Metric {
	r, labels := test.Status.Result, labelsOf(test)
	if r == nil || len(r.Figures) == 0 {
		return nil
	}
	var metrics []prometheus.Metric
	if finished := test.Status.CompletionTime; finished != nil {
		metrics = append(metrics, gauge(descFinished, float64(finished.Unix()), labels...))
	}
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionPassed); c != nil &&
		c.Status != metav1.ConditionUnknown {
		metrics = append(metrics, gauge(descPassed, oneIf(c.Status == metav1.ConditionTrue), labels...))
	}
	if test.Spec.Traffic.Type == v1alpha1.TrafficSessions {
		metrics = append(metrics, gauge(descResultPathLimited, oneIf(r.Reason == pathLimited), labels...))
	} else {
		metrics = append(metrics, gauge(descResultSaturated, oneIf(r.Claim.Saturated), labels...))
	}
	for _, series := range resultSeries {
		if f := figureOfAll(r, series.metric); f != nil {
			text := f.Low
			if series.upper && (f.High != "" || f.Open) {
				text = f.High
			}
			metrics = appendText(metrics, series.desc, strings.TrimSuffix(text, "%"), series.units, labels)
		}
	}
	return metrics
}

// pathLimited is the reason of a result of sessions that the path between the ends limited.
const pathLimited = "PathLimited"

// resultSeries are the series of a result's figures. The exported value is the figure's lower bound, or its upper one,
// divided by units. A share in percent has 100.
var resultSeries = []struct {
	metric v1alpha1.Metric
	desc   *prometheus.Desc
	units  float64
	upper  bool
}{
	{v1alpha1.MetricPacketsPerSecond, descResultPackets, 1, false},
	{v1alpha1.MetricLayer1BitsPerSecond, descResultBytes, 8, false},
	{v1alpha1.MetricLineRatePercent, descResultLineRate, 100, false},
	{v1alpha1.MetricLossRatio, descResultLoss, 100, true},
	{v1alpha1.MetricGoodputBitsPerSecond, descResultGoodput, 8, false},
	{v1alpha1.MetricRetransmitRatio, descResultRetransmits, 100, false},
	{v1alpha1.MetricRoundTripMicroseconds, descResultRoundTrip, 1e6, false},
}

// figureOfAll is the figure of all directions together, of the first goal where there are several. It is nil where the
// result has none.
func figureOfAll(r *v1alpha1.Result, metric v1alpha1.Metric) *v1alpha1.Figure {
	for i, f := range r.Figures {
		if f.Metric == string(metric) && f.Direction == nil && f.Load == "" && f.Goal == r.Figures[0].Goal {
			return &r.Figures[i]
		}
	}
	return nil
}

// appendText appends a figure that is stored as text. value / units is the exported value. An unknown figure is
// left out.
func appendText(metrics []prometheus.Metric, desc *prometheus.Desc, text string, units float64,
	labels []string) []prometheus.Metric {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return metrics
	}
	return append(metrics, gauge(desc, value/units, labels...))
}

func labelsOf(test *v1alpha1.LoadTest) []string {
	return []string{test.Namespace, test.Name, test.Labels[v1alpha1.LabelProduct]}
}
