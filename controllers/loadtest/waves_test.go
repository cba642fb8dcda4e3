package loadtest

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

func TestPodsThatAreApartAreMadeOneAfterTheOther(t *testing.T) {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	required := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}
	preferred := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{}}}}
	for _, c := range []struct {
		placement string
		affinity  *corev1.Affinity
		want      string
	}{
		{"anywhere", nil, " | links | dut west east"},
		{"rather apart", preferred, " | links | dut west east"},
		{"apart", required, " | links | dut | west | east"},
	} {
		t.Run(c.placement, func(t *testing.T) {
			end := func(name string) *corev1.Pod {
				return &corev1.Pod{ObjectMeta: named(name), Spec: corev1.PodSpec{Affinity: c.affinity}}
			}
			var made []string
			for _, wave := range waves([]manifests.Object{&corev1.Pod{ObjectMeta: named("dut")},
				&corev1.ConfigMap{ObjectMeta: named("links")}, end("west"), end("east")}) {
				var names []string
				for _, o := range wave {
					names = append(names, o.GetName())
				}
				made = append(made, strings.Join(names, " "))
			}
			if got := strings.Join(made, " | "); got != c.want {
				t.Errorf("made in waves %q, want %q", got, c.want)
			}
		})
	}
}
