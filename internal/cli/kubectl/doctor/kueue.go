package doctor

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
)

const (
	kueueGroup     = "kueue.x-k8s.io"
	kueueNamespace = "kueue-system"
	kueueConfig    = "kueue-manager-config"
	kueueConfigKey = "controller_manager_config.yaml"
	kueueConfigMap = "ConfigMap " + kueueConfig + ", namespace " + kueueNamespace
	restartKueue   = ", then kubectl rollout restart deployment kueue-controller-manager -n " + kueueNamespace
	podIntegration = "pod"
)

// integrations is the part of Kueue's configuration that chooses pods (Kueue v0.10, config.kueue.x-k8s.io/v1beta1).
type integrations struct {
	Integrations struct {
		Frameworks []string `json:"frameworks"`
		PodOptions struct {
			NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
		} `json:"podOptions"`
	} `json:"integrations"`
	ManageJobsWithoutQueueName   bool                  `json:"manageJobsWithoutQueueName"`
	ManagedJobsNamespaceSelector *metav1.LabelSelector `json:"managedJobsNamespaceSelector"`
}

func kueue(lab Lab) []Finding {
	const check = "Kueue"
	switch {
	case lab.Groups.Err != nil:
		return unreadable(check, "what the server serves", lab.Groups.Err, "kubectl api-versions | grep kueue")
	case !servesGroup(lab, kueueGroup):
		return single(OK, check, "not installed; tests wait for devices by themselves", "")
	case lab.Kueue.Err != nil:
		return single(Unknown, check, "installed; whether it looks after plain pods can't be read",
			"kubectl get configmap "+kueueConfig+" -n "+kueueNamespace+
				" -o yaml: integrations.frameworks must name pod")
	}
	var config integrations
	if err := yamltree.Decode([]byte(lab.Kueue.Value), &config, false); err != nil {
		return single(Unknown, check, "installed; its configuration isn't understood: "+err.Error(), kueueConfigMap+
			": integrations.frameworks must name pod")
	}
	if namespace := config.suspendsRunnersIn(lab); namespace != "" {
		return single(Warn, check, fmt.Sprintf("installed, and holds back all that names no queue "+
			"(manageJobsWithoutQueueName) in namespace %s: the runners of LoadTests don't start", namespace),
			fmt.Sprintf("leave the namespace out of managedJobsNamespaceSelector in %s%s; or make a LocalQueue there "+
				"for runners, and helm upgrade with runners.queueName", kueueConfigMap, restartKueue))
	}
	if !slices.Contains(config.Integrations.Frameworks, podIntegration) {
		return single(Warn, check, "installed, and doesn't look after plain pods: a LoadTest with a queue-name label "+
			"waits for ever", "add pod to integrations.frameworks in "+kueueConfigMap+restartKueue)
	}
	if field := config.excludingField(lab); field != "" {
		return single(Warn, check, fmt.Sprintf("installed, and looks after plain pods, but not in namespace %s: a "+
			"LoadTest with a queue-name label waits for ever there", lab.Namespace),
			fmt.Sprintf("let %s in %s select the namespace%s", field, kueueConfigMap, restartKueue))
	}
	return single(OK, check, "installed, and looks after plain pods"+queueWords(lab), "")
}

// jobIntegration is Kueue's name for Jobs. Runners are Jobs.
const jobIntegration = "batch/job"

// suspendsRunnersIn is the namespace of an operator whose runners Kueue suspends, since they name no queue;
// empty: there is none. The only label of that namespace that is known is its name.
func (c integrations) suspendsRunnersIn(lab Lab) string {
	if !c.ManageJobsWithoutQueueName || !slices.Contains(c.Integrations.Frameworks, jobIntegration) {
		return ""
	}
	managed := labels.Everything()
	if s := c.ManagedJobsNamespaceSelector; s != nil {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return ""
		}
		managed = selector
	}
	for i := range lab.Operators.Value {
		operator := &lab.Operators.Value[i]
		if queue, _ := settingOf(operator, "--runner-queue", "LINERATE_RUNNER_QUEUE"); queue != "" {
			continue
		}
		if managed.Matches(labels.Set{corev1.LabelMetadataName: operator.Namespace}) {
			return operator.Namespace
		}
	}
	return ""
}

// excludingField is the field by which Kueue ignores the namespace. Empty means that no field does, or that the
// namespace can't be read.
func (c integrations) excludingField(lab Lab) string {
	if lab.Home.Err != nil || lab.Home.Value == nil {
		return ""
	}
	namespaceLabels := labels.Set(lab.Home.Value.Labels)
	for _, s := range []struct {
		field    string
		selector *metav1.LabelSelector
	}{
		{"integrations.podOptions.namespaceSelector", c.Integrations.PodOptions.NamespaceSelector},
		{"managedJobsNamespaceSelector", c.ManagedJobsNamespaceSelector},
	} {
		if s.selector == nil {
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(s.selector); err == nil &&
			!selector.Matches(namespaceLabels) {
			return s.field
		}
	}
	return ""
}

// queueWords has the LocalQueues that the label can name in the namespace.
func queueWords(lab Lab) string {
	switch {
	case lab.Queues.Err != nil:
		return ""
	case len(lab.Queues.Value) == 0:
		return fmt.Sprintf("; namespace %s has no LocalQueue that the label %s could name", lab.Namespace,
			v1alpha1.LabelKueueQueue)
	}
	return fmt.Sprintf("; queues of namespace %s: %s", lab.Namespace, strings.Join(lab.Queues.Value, ", "))
}
