package loadtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// podOf is a pod of a test as the manifests make one. Its names, labels and verifier are the test's.
func podOf(test *v1alpha1.LoadTest, image string) manifests.Object {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: test.Namespace, Name: test.Name + "-1-dut",
			Labels: map[string]string{v1alpha1.LabelTest: test.Name, v1alpha1.LabelUID: string(test.UID)}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "forwarder", Image: image, Command: []string{"/linerate", "forwarder",
				"--verifier=" + credential.New().Verifier().String()}}},
			Volumes: []corev1.Volume{{Name: "links",
				VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: test.Name + "-1-links"}}}}},
		},
	}
}

func named(namespace, name string) *v1alpha1.LoadTest {
	return &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-of-" +
		name)}}
}

func TestPodsLikeThoseThatWereWelcomeAreNotTriedAgain(t *testing.T) {
	now := time.Now()
	imix := named("lab", "imix")
	for name, c := range map[string]struct {
		test    *v1alpha1.LoadTest
		image   string
		elapsed time.Duration
		extra   manifests.Object
		happen  func(*acceptedPods)
		want    bool
	}{
		"another test's, like it":     {test: named("lab", "64b"), image: "i:1", want: true},
		"its own, in another attempt": {test: imix, image: "i:1", want: true},
		"two minutes later":           {test: named("lab", "64b"), image: "i:1", elapsed: 2 * time.Minute},
		"another image":               {test: named("lab", "64b"), image: "i:2"},
		"another namespace":           {test: named("other", "64b"), image: "i:1"},
		"beside one that nobody tried": {test: named("lab", "64b"), image: "i:1",
			extra: podOf(named("lab", "64b"), "j:1"), want: true},
		"beside what is no pod": {test: named("lab", "64b"), image: "i:1",
			extra: &corev1.ConfigMap{}, want: true},
		"after one of its namespace was refused": {test: named("lab", "64b"), image: "i:1",
			happen: func(w *acceptedPods) { w.refused("lab") }},
		"after one of another namespace was": {test: named("lab", "64b"), image: "i:1",
			happen: func(w *acceptedPods) { w.refused("other") }, want: true},
		"after many others, which aren't all kept": {test: named("lab", "64b"), image: "i:1",
			happen: func(w *acceptedPods) { fill(w, "lab", now) }},
		"after many others of another namespace": {test: named("lab", "64b"), image: "i:1",
			happen: func(w *acceptedPods) { fill(w, "other", now) }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newAcceptedPods()
			w.add(imix, podOf(imix, "i:1"), now)
			if c.happen != nil {
				c.happen(w)
			}
			objects := []manifests.Object{podOf(c.test, c.image)}
			if c.extra != nil {
				objects = append(objects, c.extra)
			}
			tried := w.untried(c.test, objects, now.Add(c.elapsed))
			if got := !slices.Contains(tried, objects[0]); got != c.want {
				t.Errorf("taken to be accepted: %v", got)
			}
			if c.extra != nil && !slices.Contains(tried, c.extra) {
				t.Error("what is beside it isn't tried")
			}
			if n := max(len(w.expiries["lab"]), len(w.expiries["other"])); n > maxAccepted {
				t.Errorf("%d are kept of a namespace", n)
			}
		})
	}
}

func fill(w *acceptedPods, namespace string, now time.Time) {
	for i := range maxAccepted {
		w.add(named(namespace, "x"), podOf(named(namespace, "x"), fmt.Sprint("image:", i)), now)
	}
}
