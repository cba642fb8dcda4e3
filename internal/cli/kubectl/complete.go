package kubectl

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// completionTimeout bounds how long a person waits after pressing Tab.
const completionTimeout = 3 * time.Second

// completeTests offers the names of the namespace's suites and LoadTests that aren't on the line yet, with
// their states.
func completeTests(conn *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var tests v1alpha1.LoadTestList
		var suites v1alpha1.LoadTestSuiteList
		listForCompletion(cmd, conn, &suites, true)
		listForCompletion(cmd, conn, &tests, true)
		names := slices.DeleteFunc(choices(suites.Items, tests.Items, prefix), func(c cobra.Completion) bool {
			name, _, _ := strings.Cut(c, "\t")
			return slices.Contains(typed, name)
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// choices are the names that a person may type. A suite may have a thousand tests, so they are offered only behind the
// suite's name and a dash. A name of a test and a suite has its kind before it.
func choices(suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest, prefix string) []cobra.Completion {
	var names []cobra.Completion
	isSuite, ambiguous := map[string]bool{}, map[string]bool{}
	for i := range suites {
		isSuite[suites[i].Name] = true
	}
	for i := range tests {
		test := &tests[i]
		if owner := suiteOf(test); owner != "" && !strings.HasPrefix(prefix, owner+"-") {
			continue
		}
		name := test.Name
		if ambiguous[name] = isSuite[name]; ambiguous[name] {
			name = "loadtest/" + name
		}
		state, _ := stateOf(test)
		names = append(names, cobra.CompletionWithDesc(name, state))
	}
	for i := range suites {
		suite := &suites[i]
		name := suite.Name
		if ambiguous[name] || strings.HasPrefix(prefix, "suite/") {
			name = "suite/" + name
		}
		state, _ := stateOf(suite)
		names = append(names, cobra.CompletionWithDesc(name, "suite, "+state))
	}
	return names
}

// completeConnection offers namespaces and contexts.
func completeConnection(cmd *cobra.Command, conn *connection) {
	_ = cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		var namespaces corev1.NamespaceList
		listForCompletion(cmd, conn, &namespaces, false)
		var names []cobra.Completion
		for _, n := range namespaces.Items {
			names = append(names, n.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		config, err := conn.config().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
	})
}

// listForCompletion lists objects of the namespace, or of the cluster. The list stays empty where the server
// doesn't answer in time, since completion has no place for an error.
func listForCompletion(cmd *cobra.Command, conn *connection, list client.ObjectList, namespaced bool) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, end := context.WithTimeout(ctx, completionTimeout)
	defer end()
	c, err := conn.connect()
	if err != nil {
		return
	}
	namespace := ""
	if namespaced {
		namespace = c.namespace
	}
	_ = c.client.List(ctx, list, client.InNamespace(namespace))
}
