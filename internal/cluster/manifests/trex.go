package manifests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
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

// trex is TRex in stateless mode, in the user's image.
type trex struct{}

// trexGraceSeconds is enough, since TRex's launcher kills it after 20 s.
const trexGraceSeconds = 30

// fill makes the pod one of TRex in the user's image. An init container copies our program into it, which starts TRex
// with the pod's devices.
//
// The pod is the same for virtual functions of Intel (VFIO) and Mellanox (mlx5). They need different device files,
// which the device plugin adds, and different rights, of which the pod has both.
func (e trex) fill(input Input, g plan.Generator, pod *corev1.Pod) {
	spec := input.Test.Spec.Generator.TRex
	launch := programFolder + program
	c := corev1.Container{
		Name:    "trex",
		Image:   spec.Image,
		Command: append([]string{launch, "trex-launch"}, trexArguments(input, g)...),
		Env:     podIdentity(),
		Ports: []corev1.ContainerPort{{Name: "rpc", ContainerPort: rpcPort},
			{Name: "heartbeat", ContainerPort: int32(e.heartbeatPort())}},
		Resources:                request(input, e, g),
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
	pod.Spec.InitContainers = []corev1.Container{copyProgram(input, "copy")}
	pod.Spec.Volumes = []corev1.Volume{emptyDir("linerate-program"), linksFiles(input, trexFiles(input, g)...),
		podInfo(), emptyDir("tmp"), emptyDir("run")}
	if size := resourcesOf(input, g).HugepageSize; size != "" {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "hugepages", MountPath: folderHugepages})
		pod.Spec.Volumes = append(pod.Spec.Volumes, hugepageVolume(size))
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(trexGraceSeconds))
}

// histograms makes TRex report the latency of each frame of its latency streams.
const histograms = "--hdrh"

func trexArguments(input Input, g plan.Generator) []string {
	spec := input.Test.Spec.Generator.TRex
	arguments := append(fileArguments("--links", folderTRex+"/"+fileTRexLinks, document(trexLinks(input, g))),
		"--network-status", folderPodInfo+"/"+fileStatus,
		"--cores", strconv.Itoa(resourcesOf(input, g).Cores))
	arguments = withVerifier(input, arguments...)
	if !onDevices(input, g) {
		arguments = append(arguments, "--kernel")
	}
	if allowsSharedPort(input) {
		arguments = append(arguments, "--shared-port")
	}
	if spec.Directory != "" {
		arguments = append(arguments, "--directory", spec.Directory)
	}
	if len(spec.Config) > 0 {
		arguments = append(arguments,
			fileArguments("--extra-config", folderTRex+"/"+fileTRexConfig, compact(spec.Config))...)
	}
	userArguments := slices.Clone(spec.Args)
	if input.Compiled.Plan.Procedure.Latency != nil && !slices.Contains(userArguments, histograms) {
		userArguments = append(userArguments, histograms)
	}
	if len(userArguments) > 0 {
		arguments = append(append(arguments, "--"), userArguments...)
	}
	return arguments
}

func trexFiles(input Input, g plan.Generator) []corev1.KeyToPath {
	files := []corev1.KeyToPath{{Key: trexLinksKey(input, g), Path: fileTRexLinks}}
	if len(input.Test.Spec.Generator.TRex.Config) > 0 {
		files = append(files, corev1.KeyToPath{Key: keyTRexConfig, Path: fileTRexConfig})
	}
	return files
}

// trexLinksKey is the key of a generator's links in the attempt's ConfigMap. All generators share one, but with
// layout PerLink each link has its own.
func trexLinksKey(input Input, g plan.Generator) string {
	if input.Test.Spec.Generator.Layout == v1alpha1.LayoutPerLink && len(g.Ports) == 1 {
		return keyTRexLinks + "-" + g.Ports[0].Link + ".json"
	}
	return keyTRexLinks + ".json"
}

// trexLink is an entry of trex-launch's links file, in the order of TRex's ports, as launch.Link. Addresses aren't in
// it, since the runner sets them.
type trexLink struct {
	Name     string              `json:"name"`
	Network  string              `json:"network,omitempty"`
	Resource corev1.ResourceName `json:"resource,omitempty"`
	LineRate units.BitRate       `json:"lineRateBitsPerSecond,omitempty"`
}

// documents are the links of each generator, and the user's part of TRex's configuration file.
func (trex) documents(input Input) map[string]string {
	spec := input.Test.Spec.Generator.TRex
	documents := map[string]string{}
	for _, g := range input.Compiled.Plan.Generators {
		documents[trexLinksKey(input, g)] = document(trexLinks(input, g))
	}
	if len(spec.Config) > 0 {
		documents[keyTRexConfig] = compact(spec.Config)
	}
	return documents
}

func trexLinks(input Input, g plan.Generator) []trexLink {
	var links []trexLink
	for _, l := range input.Compiled.Plan.Links {
		if _, ok := g.PortOn(l.Name); !ok {
			continue
		}
		link := trexLink{Name: l.Name, LineRate: l.LineRate}
		if n, ok := generatorNetwork(input, l.Name); ok {
			link.Network, link.Resource = n.Key.String(), n.Resource
		}
		links = append(links, link)
	}
	return links
}

// check refuses ports of different kinds, which one TRex can't drive together.
func (trex) check(input Input) []error {
	if input.Test.Spec.Generator.Layout == v1alpha1.LayoutPerLink {
		return nil
	}
	var devices, kernel []string
	for _, link := range linkNames(input) {
		if n, ok := generatorNetwork(input, link); ok && n.Resource != "" {
			devices = append(devices, link)
		} else if ok {
			kernel = append(kernel, link)
		}
	}
	if len(devices) == 0 || len(kernel) == 0 {
		return nil
	}
	return []error{fmt.Errorf("the networks of links %s have a device resource (annotation %s), those of links %s "+
		"have none: TRex drives all its ports alike, so give all links networks of one kind",
		strings.Join(devices, ", "), annotationResource, strings.Join(kernel, ", "))}
}

// busyCPUs is a thread for each pair of ports. TRex's other threads together make one more.
func (trex) busyCPUs(ports, _ int64) resource.Quantity { return cpus(pairs(ports) + 1) }

// ownsCPUs is true, since TRex's threads poll the devices all the time.
func (trex) ownsCPUs() bool { return true }

// asksSpeed is false, since TRex doesn't read the speed of kernel interfaces.
func (trex) asksSpeed() bool { return false }

// asksCallers is false, since TRex's RPC knows no authentication.
func (trex) asksCallers() bool { return false }

// heartbeatPort is its launcher's, since TRex itself goes on sending when the runner is gone.
func (trex) heartbeatPort() uint16 { return 4502 }

// hugepageVolume is the file system of huge pages. Its medium names their size, for nodes with several sizes.
func hugepageVolume(size string) corev1.Volume {
	return corev1.Volume{Name: "hugepages", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumHugePagesPrefix +
			corev1.StorageMedium(size)},
	}}
}

// trexRights are TRex's. No NetworkAttachmentDefinition says which driver a device has, so all pods get what
// mlx5 needs. The image's file system stays writable, since the image is the user's.
//
//	IPC_LOCK   huge pages and what the NIC writes to are locked in memory (VFIO, RDMA)
//	NET_RAW    raw packet queues of mlx5; AF_PACKET sockets on kernel interfaces. VFIO has no use for it
//	NET_ADMIN  promiscuous mode and MTU of mlx5 and kernel interfaces. VFIO has no use for it
//
// Device files come with the devices. The device plugin adds /dev/vfio/* or /dev/infiniband/* to the container that
// requests them.
func trexRights() *corev1.SecurityContext { return root("IPC_LOCK", "NET_ADMIN", "NET_RAW") }
