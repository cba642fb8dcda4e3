package kubectl

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// completionTimeout bounds what a person waits for after pressing Tab.
const completionTimeout = 3 * time.Second

// completeTests offers the names of the namespace's suites and LoadTests, with what each is doing; those on the line already are left out.
func completeTests(to *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var tests v1alpha1.LoadTestList
		var suites v1alpha1.LoadTestSuiteList
		asked, askedToo := ask(cmd, to, &suites, to.within), ask(cmd, to, &tests, to.within)
		if !asked && !askedToo {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []cobra.Completion
		for _, c := range choices(suites.Items, tests.Items, begun) {
			if name, _, _ := strings.Cut(c, "\t"); !slices.Contains(typed, name) {
				names = append(names, c)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// choices are what can be typed. Tests of a suite are offered to who has typed the suite's name and a dash: there may be a thousand. What is both
// a test's and a suite's name is offered with the kind before it.
func choices(suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest, begun string) []cobra.Completion {
	var names []cobra.Completion
	isSuite, both := map[string]bool{}, map[string]bool{}
	for i := range suites {
		isSuite[suites[i].Name] = true
	}
	for i := range tests {
		test := &tests[i]
		if owner := suiteOf(test); owner != "" && !strings.HasPrefix(begun, owner+"-") {
			continue
		}
		name := test.Name
		if both[name] = isSuite[name]; both[name] {
			name = "loadtest/" + name
		}
		names = append(names, cobra.CompletionWithDesc(name, stateWord(test)))
	}
	for i := range suites {
		suite := &suites[i]
		name := suite.Name
		if both[name] || strings.HasPrefix(begun, "suite/") {
			name = "suite/" + name
		}
		names = append(names, cobra.CompletionWithDesc(name, "suite, "+stateWord(suite)))
	}
	return names
}

// completeConnection offers namespaces and contexts.
func completeConnection(cmd *cobra.Command, to *connection) {
	_ = cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var namespaces corev1.NamespaceList
		ask(cmd, to, &namespaces, nil)
		var names []cobra.Completion
		for _, n := range namespaces.Items {
			names = append(names, n.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		config, err := to.config().RawConfig()
		var names []cobra.Completion
		for name := range config.Contexts {
			names = append(names, name)
		}
		slices.Sort(names)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// within limits a list to the namespace that the verbs work in.
func (c *connection) within(at *cluster) client.ListOption { return client.InNamespace(at.namespace) }

// ask lists, soon or not at all.
func ask(cmd *cobra.Command, to *connection, list client.ObjectList, within func(*cluster) client.ListOption) bool {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, end := context.WithTimeout(ctx, completionTimeout)
	defer end()
	c, err := to.connect()
	if err != nil {
		return false
	}
	var opts []client.ListOption
	if within != nil {
		opts = append(opts, within(c))
	}
	return c.client.List(ctx, list, opts...) == nil
}
