package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

const (
	// maxName is how long a suite's name may be.
	maxName = 26
	// A name has digestLetters of the digest, and leaves triesRoom for an ending such as "-9".
	digestLetters = 7
	triesRoom     = 2
	// MaxTries is how many names one content may have. It gets a new one each time that a suite of it gave no result.
	MaxTries = 9
	// A shortened name has cutLetters of a digest, and of the user's suffix all up to wholeSuffix letters, else
	// only its end, where the names of two nights differ.
	cutLetters, wholeSuffix, suffixEnd = 6, 13, 9
	// placeholder is a suite's name before it has one.
	placeholder = "gate"
)

// setName names a suite after what it measures, and returns the name that the file has. The same content always
// gets the same name.
//
//	router-3f9a1c2      the name in the file, and a digest of the content
//	router-3f9a1c2-2    the same, after the first suite gave no result
//	router-pr-1234      with the user's suffix
//
// A name that is too long is shortened, and gets letters of a digest of the whole name, so that no two objects
// of a file share a name.
//
//	a-name-of-sevent-28eaa4d        a-name-of-seventeen, and a digest of the content
//	router-6-450245-29384730        router-64b and nightly-gate-29384730
func setName(s *v1alpha1.LoadTestSuite, object *metav1.ObjectMeta, suffix string) (inFile string) {
	base := object.Name
	if object.GenerateName != "" && object.Name == object.GenerateName+admission.GeneratedSuffix {
		base = object.GenerateName
	}
	digest := digestOf(s)
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[v1alpha1.AnnotationGate] = "sha256:" + digest
	base = strings.Trim(base, "-")
	s.Name = nameFrom(base, digest, suffix)
	return base
}

// nameFrom is a suite's name of what it is called in the file, and of the digest of its content or a suffix of
// one's own.
func nameFrom(base, digest, suffix string) string {
	const limit = maxName - triesRoom
	end := "-" + cmp.Or(suffix, digest[:digestLetters])
	switch fits := len(base)+len(end) <= limit; {
	case fits:
	case suffix == "":
		end = "-" + hexDigest(base, digest)[:digestLetters]
	default:
		end = "-" + hexDigest(base, suffix)[:cutLetters] + "-" + endOf(suffix)
	}
	return strings.Trim(base[:min(len(base), limit-len(end))], "-") + end
}

// endOf is the part of a suffix that a shortened name keeps, from the beginning of a word if there is one.
func endOf(suffix string) string {
	if len(suffix) <= wholeSuffix {
		return strings.Trim(suffix, "-")
	}
	end := suffix[len(suffix)-suffixEnd:]
	if _, words, found := strings.Cut(end, "-"); found {
		end = words
	}
	return strings.Trim(end, "-")
}

// hexDigest is a digest of words, in hexadecimal letters.
func hexDigest(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(sum[:])
}

// digestOf is a digest of what is measured and how it is judged, without how many are measured at a time and
// how long they are kept.
func digestOf(s *v1alpha1.LoadTestSuite) string {
	spec := s.Spec.DeepCopy()
	spec.Suspend, spec.Stop, spec.Parallelism, spec.TTLAfterFinished, spec.HistoryLimit = false, false, 0, "", nil
	text, err := json.Marshal(spec)
	if err != nil { // a template that isn't JSON; admission lets none through
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// CheckSuffix refuses a suffix that can't be part of a name. An empty one means that there is none.
func CheckSuffix(suffix string) error {
	const limit = maxName - triesRoom - 2
	if suffix == "" {
		return nil
	}
	if len(suffix) > limit || strings.Trim(suffix, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
		strings.HasSuffix(suffix, "-") {
		return fmt.Errorf("--name-suffix %q: a suffix has at most %d lower-case letters, digits and dashes, such as "+
			"pr-1234", suffix, limit)
	}
	return nil
}

// Try is the name of the n-th suite of the same content, counted from 1.
func Try(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}
