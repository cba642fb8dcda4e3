package main

// exception is a module file, or one module in it, that keeps a version of its own.
type exception struct {
	file   string
	module string // "" is all that the file requires
	reason string
}

// exceptions are programs of others' that can't be built with what we build with. Nothing assigns to it.
var exceptions = []exception{
	{file: "go.release.mod", reason: "cyclonedx-gomod as it was released: a release and its rehearsal alone build it, and nothing else is compiled from what it shares"},
	{file: "hack/kube/kueue/go.mod", reason: "Kueue as it was released, with Kubernetes' libraries 0.31, whose APIs it uses throughout; the full tier alone builds it"},
	{file: "hack/kube/multus/go.mod", module: "k8s.io/kubelet",
		reason: "Multus 4.2.2 reads ClaimResource.CDIDevices of kubelet's pod resources, which has another name since"},
}
