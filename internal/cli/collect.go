package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/collect"
)

func newCollect(s Streams) *cobra.Command {
	var address, observers, credentials, terminationLog string
	var verifier credential.Verifier
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Read a test's observers from servers on the network, and serve the answers to the runner",
		Example: "  linerate collect --vitals 192.0.2.7 --verifier VERIFIER --credentials /etc/linerate/credentials " +
			"--observers '[{\"name\": \"power\", ...}]'",
		Long: "Asks a Prometheus server, an SNMP agent or a management controller (Redfish) at each observer's own " +
			"period, with the credentials that are in\n" +
			"files of the folder --credentials: SECRET/username, SECRET/password, SECRET/token, SECRET/community, " +
			"SECRET/ca.crt,\n" +
			"SECRET/serverName, SECRET/fingerprint, and of SNMP's version 3\n" +
			"SECRET/authPassword, SECRET/privPassword, SECRET/authProtocol, SECRET/privProtocol. Whoever asks for " +
			"the answers must prove the key of --verifier; each credential is sent only to the server that it is " +
			"for. The command needs no rights.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, collect.Run(cmd.Context(), s.Stderr, address, observers, credentials,
				verifier))
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	cmd.Flags().StringVar(&observers, "observers", "", "the Plan's observers that read from the network, as JSON")
	credentialsFlag(cmd, &credentials)
	verifierFlag(cmd.Flags(), &verifier)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	_ = cmd.MarkFlagRequired("observers")
	_ = cmd.MarkFlagRequired("verifier") // else anybody on the pods' network could read the answers
	return cmd
}

// credentialsFlag adds --credentials.
func credentialsFlag(cmd *cobra.Command, target *string) {
	cmd.Flags().StringVar(target, "credentials", "",
		"folder with the credentials of observers that read from the network, as a cluster mounts Secrets: "+
			"FOLDER/SECRETNAME/password")
}
