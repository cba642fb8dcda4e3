package manifests_test

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// An editor of the namespace deletes NAME-A-links and makes it again before a pod mounts it. Each container that mounts
// a ConfigMap is started with the digest of each of its files. The author's containers mount none.
func TestEachFileThatAPodReadsFromAConfigMapHasItsDigestInTheArguments(t *testing.T) {
	read := map[string]int{} // by key: how many pods read it
	for _, name := range clusterSamples(t) {
		input := sample(t, name)
		data := manifests.Links(input).Data
		for _, object := range ofAttempt(t, input) {
			pod, ok := object.(*corev1.Pod)
			if !ok || pod.Namespace != input.Test.Namespace {
				continue
			}
			for _, volume := range pod.Spec.Volumes {
				if volume.ConfigMap == nil || volume.ConfigMap.Name != manifests.LinksName(input.Test.Name,
					input.Attempt) {
					continue
				}
				for _, item := range volume.ConfigMap.Items {
					read[item.Key]++
					heldBy(t, name, pod, volume.Name, item.Path, data[item.Key])
				}
				if len(volume.ConfigMap.Items) == 0 {
					t.Errorf("%s: %s mounts all files of the ConfigMap", name, pod.Name)
				}
			}
		}
	}
	for _, key := range []string{"links.json", "forwarder.json", "far-end.json", "trex-links.json"} {
		if read[key] == 0 {
			t.Errorf("no pod of the samples reads %s: %v", key, read)
		}
	}
}

// heldBy says whether each container that mounts the file has its digest among its arguments, after the flag
// that names it.
func heldBy(t *testing.T, name string, pod *corev1.Pod, volume, path, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: %s reads %s, which the ConfigMap doesn't have", name, pod.Name, path)
	}
	sum := sha256.Sum256([]byte(text))
	digest, readers := "-digest=sha256:"+hex.EncodeToString(sum[:]), 0
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
		if i < 0 {
			continue
		}
		readers++
		named := slices.Index(c.Command, filepath.Join(c.VolumeMounts[i].MountPath, path))
		if named < 1 || c.Command[named+1] != c.Command[named-1]+digest {
			t.Errorf("%s: %s/%s reads %s, and is started as %s", name, pod.Name, c.Name, path,
				strings.Join(c.Command, " "))
		}
	}
	if readers == 0 {
		t.Errorf("%s: no container of %s reads %s", name, pod.Name, path)
	}
}

// TRex's configuration is the author's, and an editor's all the same once it is in a ConfigMap. A PerLink
// generator reads a file of its own.
func TestEachFileOfATRexHasItsDigestInTheArguments(t *testing.T) {
	input := sample(t, "loadtest_trex_loopback")
	input.Test.Spec.Generator.TRex.Config = v1alpha1.Freeform{"port_bandwidth_gb": {Raw: []byte("25")}}
	data := manifests.Links(input).Data
	files := 0
	for _, pod := range manifests.Generators(input) {
		for _, volume := range pod.Spec.Volumes {
			if volume.ConfigMap == nil {
				continue
			}
			for _, item := range volume.ConfigMap.Items {
				files++
				heldBy(t, "loopback", pod, volume.Name, item.Path, data[item.Key])
			}
		}
	}
	if files < 2 {
		t.Errorf("%d files are read, want its links and its configuration", files)
	}
}
