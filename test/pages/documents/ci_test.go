package documents

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// pipeline is as much of GitLab's CI/CD YAML (docs.gitlab.com/ci/yaml) as the example uses. What isn't in here is refused: a misspelt keyword, which GitLab
// would take for a job's or refuse, and a value of another type.
type pipeline struct {
	Stages []string `json:"stages"`
	Gate   job      `json:"gate"`
}

type job struct {
	Stage     string            `json:"stage"`
	Tags      []string          `json:"tags"`
	Variables map[string]string `json:"variables"`
	Rules     []struct {
		If string `json:"if"`
	} `json:"rules"`
	Interruptible bool   `json:"interruptible"`
	Timeout       string `json:"timeout"`
	Retry         struct {
		Max  int    `json:"max"`
		When string `json:"when"`
	} `json:"retry"`
	Script       []string `json:"script"`
	AllowFailure struct {
		ExitCodes []int `json:"exit_codes"`
	} `json:"allow_failure"`
	Artifacts struct {
		When     string   `json:"when"`
		ExpireIn string   `json:"expire_in"`
		Paths    []string `json:"paths"`
		Reports  struct {
			JUnit string `json:"junit"`
		} `json:"reports"`
	} `json:"artifacts"`
}

// TestTheExampleForGitLab: there is no linter of GitLab's outside of GitLab. Its commands are run in test/cluster/e2e, those of the other examples, too.
func TestTheExampleForGitLab(t *testing.T) {
	text, err := os.ReadFile("../../../examples/ci/gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var p pipeline
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatal(err)
	}
	j := p.Gate
	timeout, err := time.ParseDuration(strings.ReplaceAll(j.Timeout, " ", ""))
	script := strings.Join(j.Script, "\n")
	for what, fine := range map[string]bool{
		"its stage is one of the stages":                    slices.Contains(p.Stages, j.Stage),
		"when artifacts are kept":                           slices.Contains([]string{"always", "on_success", "on_failure"}, j.Artifacts.When),
		"how often it is tried again":                       j.Retry.Max >= 0 && j.Retry.Max <= 2,
		"a verdict isn't tried again":                       j.Retry.When == "runner_system_failure",
		"only undecided is a warning":                       slices.Equal(j.AllowFailure.ExitCodes, []int{3}),
		"GitLab is given what the gate writes":              strings.Contains(script, "junit="+j.Artifacts.Reports.JUnit) && slices.Contains(j.Artifacts.Paths, j.Artifacts.Reports.JUnit),
		"it says itself what it waited for":                 err == nil && timeout > 340*time.Minute && strings.Contains(script, "--timeout 340m"),
		"every variable of the script is one of the job's":  variablesKnown(script, j.Variables),
		"it runs for merge requests, by a rule that exists": len(j.Rules) == 1 && strings.HasPrefix(j.Rules[0].If, "$CI_PIPELINE_SOURCE == "),
	} {
		if !fine {
			t.Errorf("not so: %s: %+v", what, j)
		}
	}
}

// variablesKnown says whether each $NAME of a script is defined.
func variablesKnown(script string, variables map[string]string) bool {
	for _, part := range strings.Split(script, "$")[1:] {
		end := strings.IndexFunc(part, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') })
		if _, known := variables[part[:max(end, 0)]]; !known {
			return false
		}
	}
	return true
}
