package manifests

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Where a TRex pod finds its configuration.
const (
	folderTRex      = folderLinerate + "/trex"
	fileTRexLinks   = "links.json"
	fileTRexConfig  = "config.yaml"
	keyTRexLinks    = "trex-links"
	keyTRexConfig   = "trex-config.yaml"
	folderHugepages = "/dev/hugepages"
)

// trex makes the pod one of TRex in the user's image: an init container copies our program in, which starts TRex from what the pod was given.
//
// Intel's virtual functions (VFIO) and Mellanox' (mlx5) make the same pod: what they need differs in device files, which the device plugin adds, and
// in rights, of which it gets both's.
func trex(in Input, g plan.Generator, pod *corev1.Pod) {
	spec := in.Test.Spec.Generator.TRex
	copyIn := ourContainer(in, "copy", "trex-launch", "copy", programFolder+"/")
	copyIn.Resources, copyIn.SecurityContext = smallInit(), restricted()
	copyIn.VolumeMounts = []corev1.VolumeMount{{Name: "linerate-program", MountPath: programFolder}}

	launch := programFolder + program
	c := corev1.Container{
		Name:                     "trex",
		Image:                    spec.Image,
		Command:                  append([]string{launch, "trex-launch"}, trexArguments(in, g)...),
		Env:                      whoAmI(),
		Ports:                    []corev1.ContainerPort{{Name: "rpc", ContainerPort: rpcPort}, {Name: "heartbeat", ContainerPort: heartbeatPort}},
		Resources:                request(in, g),
		SecurityContext:          trexRights(),
		StartupProbe:             startup(2, 120, launch, "trex-launch", "probe"),
		LivenessProbe:            liveness(launch, "trex-launch", "probe"),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			readOnly("linerate-program", programFolder),
			readOnly(volumeStatic, folderTRex),
			readOnly(volumePodInfo, folderPodInfo),
			{Name: "tmp", MountPath: "/tmp"},
			{Name: "run", MountPath: "/var/run"},
		},
	}
	pod.Spec.InitContainers = []corev1.Container{copyIn}
	pod.Spec.Volumes = []corev1.Volume{emptyDir("linerate-program"), linksFiles(in, trexFiles(in, g)...), podInfo(), emptyDir("tmp"), emptyDir("run")}
	if size := resourcesOf(in, g).HugepageSize; size != "" {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "hugepages", MountPath: folderHugepages})
		pod.Spec.Volumes = append(pod.Spec.Volumes, hugepageVolume(size))
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(trexGraceSeconds))
}

func trexArguments(in Input, g plan.Generator) []string {
	spec := in.Test.Spec.Generator.TRex
	arguments := []string{"--links", folderTRex + "/" + fileTRexLinks, "--network-status", folderPodInfo + "/" + fileStatus,
		"--cores", strconv.Itoa(resourcesOf(in, g).Cores)}
	if !onDevices(in, g) {
		arguments = append(arguments, "--kernel")
	}
	if allowsSharedPort(in) {
		arguments = append(arguments, "--shared-port")
	}
	if spec.Directory != "" {
		arguments = append(arguments, "--directory", spec.Directory)
	}
	if len(spec.Config) > 0 {
		arguments = append(arguments, "--extra-config", folderTRex+"/"+fileTRexConfig)
	}
	if len(spec.Args) > 0 {
		arguments = append(append(arguments, "--"), spec.Args...)
	}
	return arguments
}

func trexFiles(in Input, g plan.Generator) []corev1.KeyToPath {
	files := []corev1.KeyToPath{{Key: trexLinksKey(in, g), Path: fileTRexLinks}}
	if len(in.Test.Spec.Generator.TRex.Config) > 0 {
		files = append(files, corev1.KeyToPath{Key: keyTRexConfig, Path: fileTRexConfig})
	}
	return files
}

// trexLinksKey is where a generator's links stand in the attempt's ConfigMap. All generators are on the same links but with layout PerLink.
func trexLinksKey(in Input, g plan.Generator) string {
	if in.Test.Spec.Generator.Layout == v1alpha1.LayoutPerLink && len(g.Ports) == 1 {
		return keyTRexLinks + "-" + g.Ports[0].Link + ".json"
	}
	return keyTRexLinks + ".json"
}

// trexLink is an entry of trex-launch's links file, in the order of TRex's ports: launch.Link. Addresses aren't in it, since the
// runner sets them.
type trexLink struct {
	Name     string              `json:"name"`
	Network  string              `json:"network,omitempty"`
	Resource corev1.ResourceName `json:"resource,omitempty"`
	LineRate units.BitRate       `json:"lineRateBitsPerSecond,omitempty"`
}

// trexDocuments are the files of the TRex pods.
func trexDocuments(in Input) map[string]string {
	spec := in.Test.Spec.Generator.TRex
	if spec == nil {
		return nil
	}
	documents := map[string]string{}
	for _, g := range in.Compiled.Plan.Generators {
		documents[trexLinksKey(in, g)] = document(trexLinks(in, g))
	}
	if len(spec.Config) > 0 {
		documents[keyTRexConfig] = compact(spec.Config)
	}
	return documents
}

func trexLinks(in Input, g plan.Generator) []trexLink {
	var links []trexLink
	for _, l := range in.Compiled.Plan.Links {
		if _, on := g.PortOn(l.Name); !on {
			continue
		}
		link := trexLink{Name: l.Name, LineRate: l.LineRate}
		if n, ok := generatorNetwork(in, l.Name); ok {
			link.Network, link.Resource = n.Key.String(), n.Resource
		}
		links = append(links, link)
	}
	return links
}

// hugepageVolume is the file system that the pages are had from. Its medium names their size, for nodes that have several.
func hugepageVolume(size string) corev1.Volume {
	return corev1.Volume{Name: "hugepages", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumHugePagesPrefix + corev1.StorageMedium(size)},
	}}
}
