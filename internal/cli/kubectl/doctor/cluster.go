package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func server(lab Lab) []Finding {
	if lab.Server.Err != nil {
		return single(Fail, "API server", fmt.Sprintf("%s doesn't answer: %v", lab.Host, lab.Server.Err),
			"check kubectl cluster-info; choose another cluster with --context or --kubeconfig")
	}
	return single(OK, "API server", fmt.Sprintf("Kubernetes %s at %s", lab.Server.Value, lab.Host), "")
}

// rights has one finding if the person has all rights, and otherwise one for each missing right.
func rights(lab Lab) []Finding {
	var findings []Finding
	for _, r := range lab.Rights {
		action := r.Verb + " " + r.Resource
		switch {
		case r.Err != nil:
			findings = append(findings, unreadable("your rights", "whether you may "+action, r.Err,
				"kubectl auth can-i "+action+" -n "+lab.Namespace)...)
		case !r.Allowed:
			findings = append(findings, Finding{Fail, "your rights",
				fmt.Sprintf("you may not %s in namespace %s, which %s needs", action, lab.Namespace, r.Purpose),
				"ask the namespace's admin: kubectl create rolebinding NAME --clusterrole=edit --user=YOU -n " +
					lab.Namespace})
		}
	}
	if len(findings) == 0 {
		return single(OK, "your rights", "you may run, follow and stop tests and read Reports in namespace "+
			lab.Namespace, "")
	}
	return findings
}

func served(lab Lab, groupVersion string) bool {
	return slices.Contains(lab.Groups.Value, groupVersion)
}

func servesGroup(lab Lab, group string) bool {
	return slices.ContainsFunc(lab.Groups.Value, func(gv string) bool { return strings.HasPrefix(gv, group+"/") })
}

const install = "helm upgrade --install linerate charts/linerate -n linerate-system --create-namespace " +
	"(docs/install.md)"

func definition(lab Lab) []Finding {
	const check = "LoadTest definition"
	version := v1alpha1.GroupVersion.String()
	switch {
	case lab.Groups.Err != nil:
		return unreadable(check, "what the server serves", lab.Groups.Err, "kubectl api-versions")
	case !served(lab, version) && servesGroup(lab, v1alpha1.Group):
		return single(Fail, check, "the server serves other versions of linerate.dev than "+version,
			"install the linerate plugin of the cluster's release, or: "+install)
	case !served(lab, version):
		return single(Fail, check, "not installed", install)
	case lab.Definition.Err != nil:
		return single(Unknown, check, version+" is served; whether its schema is this plugin's, you may not see",
			"a cluster admin can run the same command")
	case !sameSchema(lab):
		return single(Warn, check, version+" is served, with another release's schema than this plugin's: files are "+
			"judged here by other rules than there", "use plugin and operator of one release; "+install)
	}
	return single(OK, check, version+", the same as this plugin's", "")
}

func sameSchema(lab Lab) bool {
	plugin, installed := lab.OurSchema, lab.Definition.Value
	if plugin == nil || installed == nil || len(plugin.Spec.Versions) != 1 || len(installed.Spec.Versions) != 1 {
		return false
	}
	return equality.Semantic.DeepEqual(plugin.Spec.Versions[0].Schema, installed.Spec.Versions[0].Schema)
}

func operator(lab Lab) []Finding {
	const check = "operator"
	if lab.Operators.Err != nil {
		return unreadable(check, "the cluster's Deployments", lab.Operators.Err,
			"ask a cluster admin to run kubectl linerate doctor; a new LoadTest whose conditions stay empty means "+
				"that no operator runs")
	}
	var findings []Finding
	for i := range lab.Operators.Value {
		findings = append(findings, oneOperator(lab, &lab.Operators.Value[i]))
	}
	if len(findings) == 0 {
		return single(Fail, check, "no operator is installed: LoadTests would stay as they are for ever", install)
	}
	if len(findings) > 1 {
		findings = append(findings, Finding{Warn, check,
			fmt.Sprintf("%d operators are installed: unless each has namespaces of its own (watchNamespaces), they "+
				"disturb each other's tests", len(findings)), "helm uninstall one of them"})
	}
	return findings
}

func oneOperator(lab Lab, d *appsv1.Deployment) Finding {
	name, version := d.Namespace+"/"+d.Name, operatorVersion(d)
	switch {
	case d.Status.ReadyReplicas == 0:
		return Finding{Fail, "operator", fmt.Sprintf("%s has no ready pod", name),
			fmt.Sprintf("kubectl describe pods -n %s; kubectl logs -n %s deployment/%s", d.Namespace, d.Namespace,
				d.Name)}
	case released(lab.Version) && released(version) && bareVersion(version) != bareVersion(lab.Version):
		return Finding{Warn, "operator", fmt.Sprintf("%s runs %s, and this plugin is %s", name, version, lab.Version),
			"install the plugin of the operator's release, or upgrade the operator"}
	}
	return Finding{OK, "operator", fmt.Sprintf("%s runs %s, %d of %d pods ready", name, version, d.Status.ReadyReplicas,
		d.Status.Replicas), ""}
}

// operatorVersion is the tag of the operator's image, or the chart's label if a digest pins the image.
func operatorVersion(d *appsv1.Deployment) string {
	for _, c := range d.Spec.Template.Spec.Containers {
		if _, tag, tagged := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":"); tagged &&
			!strings.Contains(c.Image, "@") {
			return tag
		}
	}
	if v := d.Labels["app.kubernetes.io/version"]; v != "" {
		return v
	}
	return "an unknown version"
}

// released reports whether a version is a release's, and not a build's between two.
func released(version string) bool {
	v := bareVersion(version)
	return v != "" && v[0] >= '0' && v[0] <= '9' && !strings.Contains(v, "-g")
}

func bareVersion(v string) string { return strings.TrimPrefix(v, "v") }

// leaseSlack is longer than the seconds between a lease's renewals, as a laptop's clock may be wrong.
const leaseSlack = time.Minute

func leader(lab Lab) []Finding {
	var findings []Finding
	for _, d := range lab.Operators.Value {
		if d.Status.ReadyReplicas == 0 {
			continue
		}
		findings = append(findings, oneLeader(lab, d.Namespace))
	}
	return findings
}

func oneLeader(lab Lab, namespace string) Finding {
	lease := lab.Leases[namespace]
	look := fmt.Sprintf("kubectl get lease %s -n %s; kubectl logs -n %s -l app.kubernetes.io/name=linerate", leaseName,
		namespace, namespace)
	switch l := lease.Value; {
	case lease.Err != nil:
		return Finding{Unknown, "leader", "the Lease that says which replica works can't be read: " + lease.Err.Error(),
			look}
	case l == nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || l.Spec.RenewTime == nil:
		return Finding{Warn, "leader", "no replica in " + namespace + " works at the moment", look}
	case lab.Instant.Sub(l.Spec.RenewTime.Time) > leaseSlack:
		return Finding{Fail, "leader", fmt.Sprintf("%s hasn't renewed its Lease for %v: no operator looks after "+
			"LoadTests", *l.Spec.HolderIdentity, lab.Instant.Sub(l.Spec.RenewTime.Time).Round(time.Second)), look}
	}
	return Finding{OK, "leader", *lease.Value.Spec.HolderIdentity + " works", ""}
}

// admission checks for a policy that demands of a LoadTest's author the rights that the test's pods have.
func admission(lab Lab) []Finding {
	const check = "admission policy"
	if lab.Policies.Err != nil {
		return unreadable(check, "the cluster's ValidatingAdmissionPolicies", lab.Policies.Err, askAdmin)
	}
	for _, p := range lab.Policies.Value {
		if !guardsTests(p.Spec.MatchConstraints) {
			continue
		}
		if lab.Bindings.Err != nil {
			return unreadable(check, "whether "+p.Name+" is bound", lab.Bindings.Err, askAdmin)
		}
		for _, b := range lab.Bindings.Value {
			if b.Spec.PolicyName == p.Name {
				return single(OK, check, p.Name+" guards LoadTests", "")
			}
		}
		return single(Warn, check, p.Name+" is there and bound to nothing: it guards nothing",
			"kubectl get validatingadmissionpolicybindings; "+install)
	}
	return single(Warn, check, "none guards LoadTests: who may create one gets pods with whatever its templates say, "+
		"also if they may create no pods", "upgrade the chart (docs/security.md); until then give LoadTest rights "+
		"only to who may create pods")
}
