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
	"github.com/linerate-dev/linerate/internal/admission"
)

const (
	// maxName is how long a suite's name may be.
	maxName = 26
	// digestLetters of the digest are in a name, and triesRoom is kept for "-9" behind it.
	digestLetters = 7
	triesRoom     = 2
	// MaxTries is how many names there are of one content: one for each time that it came to nothing.
	MaxTries = 9
	// Of what has to be shortened cutLetters of a digest are in the name, and so much of a suffix of one's own: all of it up to wholeSuffix letters, else its end,
	// which is where one night differs from the next.
	cutLetters, wholeSuffix, suffixEnd = 6, 13, 9
	// placeholder is a suite's name before it has one.
	placeholder = "gate"
)

// name names a suite for what is measured, and returns what it is called in its file. The same content has the same name, whoever asks and how often.
//
//	router-3f9a1c2      what it is called in the file, and what is in it
//	router-3f9a1c2-2    the same, after the first one came to nothing
//	router-pr-1234      with a suffix of one's own
//
// What is too long for a name is shortened, with letters of a digest of all of it: no two objects of a file become one.
//
//	a-name-of-sevent-28eaa4d        a-name-of-seventeen, and what is in it
//	router-6-450245-29384730        router-64b and nightly-gate-29384730
func name(s *v1alpha1.LoadTestSuite, from *metav1.ObjectMeta, suffix string) (inFile string) {
	base := from.Name
	if from.GenerateName != "" && from.Name == from.GenerateName+admission.GeneratedSuffix {
		base = from.GenerateName
	}
	digest := digestOf(s)
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[v1alpha1.AnnotationGate] = "sha256:" + digest
	base = strings.Trim(base, "-")
	s.Name = composed(base, digest, suffix)
	return base
}

// composed is a suite's name of what it is called in the file, and of the digest of its content or a suffix of one's own.
func composed(base, digest, suffix string) string {
	const most = maxName - triesRoom
	end := "-" + cmp.Or(suffix, digest[:digestLetters])
	switch fits := len(base)+len(end) <= most; {
	case fits:
	case suffix == "":
		end = "-" + lettersOf(base, digest)[:digestLetters]
	default:
		end = "-" + lettersOf(base, suffix)[:cutLetters] + "-" + endOf(suffix)
	}
	return strings.Trim(base[:min(len(base), most-len(end))], "-") + end
}

// endOf is what a name that has to be shortened has of a suffix: from the beginning of a word, if there is one.
func endOf(suffix string) string {
	if len(suffix) <= wholeSuffix {
		return strings.Trim(suffix, "-")
	}
	end := suffix[len(suffix)-suffixEnd:]
	if _, words, more := strings.Cut(end, "-"); more {
		end = words
	}
	return strings.Trim(end, "-")
}

func lettersOf(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(sum[:])
}

// digestOf is a digest of what is measured and how it is judged; how many at a time, and how long it is kept, are no part of it.
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

// CheckSuffix says what is wrong with a suffix; empty is none.
func CheckSuffix(suffix string) error {
	const most = maxName - triesRoom - 2
	if suffix == "" {
		return nil
	}
	if len(suffix) > most || strings.Trim(suffix, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasSuffix(suffix, "-") {
		return fmt.Errorf("--name-suffix %q: names are made of at most %d lower-case letters, digits and dashes here, such as pr-1234", suffix, most)
	}
	return nil
}

// Try is the name of a content's n-th try, from 1.
func Try(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}
