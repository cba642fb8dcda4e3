package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	suiteName = "matrix"
	// columns are the values of each of the suite's two last axes; cellsOfRow is how many cells have one value of
	// the first.
	columns    = 10
	cellsOfRow = columns * columns
)

// aSuite has an axis each of systems, frame sizes and allowed loss ratios.
func aSuite(cells, parallel int) (*v1alpha1.LoadTestSuite, error) {
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: suiteName}}
	s.Spec.Parallelism = int32(parallel)
	spec, err := json.Marshal(aLoadTest(0).(*v1alpha1.LoadTest).Spec)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(spec, &s.Spec.Template.Spec); err != nil {
		return nil, err
	}
	for _, axis := range []struct {
		name   string
		values int
		patch  func(i int) string
	}{
		{"system", cells / cellsOfRow, func(i int) string {
			return fmt.Sprintf(`{"dut":{"reference":{"limit":{"packetsPerSecond":%d}}}}`, 100_000+i)
		}},
		{"size", columns, func(i int) string {
			return fmt.Sprintf(`{"traffic":{"profile":"FixedSize","frameSize":%d}}`, 64+100*i)
		}},
		{"loss", columns, func(i int) string { return fmt.Sprintf(`{"procedure":{"maxLossRatio":"0.%d%%"}}`, i) }},
	} {
		a := v1alpha1.Axis{Name: v1alpha1.AxisName(axis.name)}
		for i := range axis.values {
			value := v1alpha1.AxisValue{Name: v1alpha1.AxisName(fmt.Sprintf("%s%d", axis.name, i))}
			if err := json.Unmarshal([]byte(axis.patch(i)), &value.Patch); err != nil {
				return nil, err
			}
			a.Values = append(a.Values, value)
		}
		s.Spec.Axes = append(s.Spec.Axes, a)
	}
	return s, nil
}

// carrySuite makes one suite, and waits until all of its tests are complete and it is, too.
func (c *cluster) carrySuite(ctx context.Context, o options, p *player, alive func() error) (carried, error) {
	suite, err := aSuite(o.tests, o.parallel)
	if err != nil {
		return carried{}, err
	}
	result := carried{firstApplied: time.Now()}
	if err := c.admin.Create(ctx, suite); err != nil {
		return result, err
	}
	if err := await(ctx, func() (bool, error) { return p.tests.size() == o.tests, alive() }); err != nil {
		return result, fmt.Errorf("%d of %d are complete: %w", p.tests.size(), o.tests, err)
	}
	result.lastComplete, result.took = p.tests.durationsSince(p.created)
	err = await(ctx, func() (bool, error) {
		if err := c.admin.Get(ctx, client.ObjectKeyFromObject(suite), suite); err != nil {
			return false, err
		}
		complete := meta.FindStatusCondition(suite.Status.Conditions, v1alpha1.ConditionComplete)
		if complete == nil || complete.Status != metav1.ConditionTrue {
			return false, alive()
		}
		if complete.Reason != v1alpha1.ReasonMeasured || int(suite.Status.Counts.Measured) != o.tests {
			return false, fmt.Errorf("the suite ended as %s with %d measured: %s", complete.Reason,
				suite.Status.Counts.Measured, complete.Message)
		}
		return true, nil
	})
	result.quiet = time.Now()
	return result, err
}

// stored is how much there is of a kind in the end, as JSON: LoadTests and suites are stored like that, the
// others shorter, as protobuf.
type stored struct {
	label          string
	objects, bytes int
}

// suiteFigures are what a suite leaves in the API server; none of single tests.
func (c *cluster) suiteFigures(ctx context.Context, o options) ([]stored, error) {
	if !o.suite {
		return nil, nil
	}
	var entries []stored
	for _, kind := range []struct {
		label     string
		list      client.ObjectList
		selectors []client.ListOption
	}{
		{"the suite", &v1alpha1.LoadTestSuiteList{}, nil},
		{"its report and its notes on runs", &corev1.ConfigMapList{},
			[]client.ListOption{client.MatchingLabels{v1alpha1.LabelSuite: suiteName}}},
		{"LoadTests", &v1alpha1.LoadTestList{}, nil},
		{"their ConfigMaps", &corev1.ConfigMapList{}, []client.ListOption{client.HasLabels{v1alpha1.LabelTest}}},
		{"their Jobs", &batchv1.JobList{}, nil},
		{"their pods", &corev1.PodList{}, nil},
		{"their ServiceAccounts", &corev1.ServiceAccountList{},
			[]client.ListOption{client.HasLabels{v1alpha1.LabelTest}}},
		{"their Roles", &rbacv1.RoleList{}, nil},
		{"their RoleBindings", &rbacv1.RoleBindingList{}, nil},
	} {
		if err := c.admin.List(ctx, kind.list,
			append(kind.selectors, client.InNamespace(labNamespace))...); err != nil {
			return nil, err
		}
		s := stored{label: kind.label}
		err := meta.EachListItem(kind.list, func(object runtime.Object) error {
			text, err := json.Marshal(object)
			s.objects, s.bytes = s.objects+1, s.bytes+len(text)
			return err
		})
		if err != nil {
			return nil, err
		}
		entries = append(entries, s)
	}
	return entries, nil
}

func tellStored(b *strings.Builder, entries []stored) {
	b.WriteString("\n| Stored in the end | objects | as JSON |\n|---|---:|---:|\n")
	for _, s := range entries {
		fmt.Fprintf(b, "| %s | %d | %.1f KB |\n", s.label, s.objects, float64(s.bytes)/1e3)
	}
}
