package tries

// container is a pod's spec with a container that has more to it.
func container(fields string) string { return "{containers: [{name: c, image: i, " + fields + "}]}" }

// plain is a pod's spec with a container as any may be, and more.
func plain(fields string) string { return "{containers: [{name: c, image: i}], " + fields + "}" }

// BeyondAPlainPod is what a template may not have without the verb privileged. Spec is the pod's.
func BeyondAPlainPod() []Try {
	return []Try{
		{"a privileged container", container("securityContext: {privileged: true}"), "securityContext.privileged"},
		{"a privileged init container", plain("initContainers: [{name: d, image: i, securityContext: {privileged: true}}]"), "securityContext.privileged"},
		{"a privileged ephemeral container", plain("ephemeralContainers: [{name: d, image: i, securityContext: {privileged: true}}]"), "securityContext.privileged"},
		{"privileged as a text", container(`securityContext: {privileged: "true"}`), "securityContext.privileged"},
		{"the node's network", plain("hostNetwork: true"), "hostNetwork"},
		{"the node's processes", plain("hostPID: true"), "hostPID"},
		{"the node's memory", plain("hostIPC: true"), "hostIPC"},
		{"a path of the node's", plain("volumes: [{name: v, hostPath: {path: /}}]"), "a hostPath volume"},
		{"a file system of its own", plain("volumes: [{name: v, nfs: {server: s, path: /}}]"),
			"use a PersistentVolumeClaim"},
		{"a raw device", container("volumeDevices: [{name: v, devicePath: /dev/sda}]"), "volumeDevices"},
		{"an added capability", container("securityContext: {capabilities: {add: [SYS_ADMIN]}}"), "capabilities.add"},
		{"all capabilities", container("securityContext: {capabilities: {add: [ALL]}}"), "capabilities.add"},
		{"a port of the node's", container("ports: [{containerPort: 80, hostPort: 80}]"), "hostPort"},
		{"an unmasked /proc", container("securityContext: {procMount: Unmasked}"), "procMount"},
		{"no seccomp", plain("securityContext: {seccompProfile: {type: Unconfined}}"), "seccompProfile"},
		{"no AppArmor", container("securityContext: {appArmorProfile: {type: Unconfined}}"), "appArmorProfile"},
		{"another SELinux type", container("securityContext: {seLinuxOptions: {type: spc_t}}"), "seLinuxOptions"},
		{"a Windows host process", container("securityContext: {windowsOptions: {hostProcess: true}}"),
			"windowsOptions.hostProcess"},
		{"an unsafe sysctl", plain("securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}"), "sysctls"},
		{"a node past the scheduler", plain("nodeName: master"), "nodeName"},
		{"the system's priority", plain("priorityClassName: system-node-critical"), "priorityClassName"},
		{"a probe of the node's own", container("livenessProbe: {httpGet: {host: 127.0.0.1, port: 10250}}"),
			"a probe or hook"},
		{"a token by the back door", plain("volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]"), "a projected token"},
	}
}

// ForeignAccounts are the ways to make a pod run as another account. Spec is the pod's.
func ForeignAccounts() []Try {
	return []Try{
		{"another ServiceAccount", plain("serviceAccountName: deployer"), "serviceAccountName deployer"},
		{"another ServiceAccount by the old field", plain("serviceAccount: deployer"), "serviceAccountName deployer"},
		{"another ServiceAccount by the old field beside an empty one",
			plain("serviceAccountName: '', serviceAccount: deployer"), "serviceAccountName deployer"},
		{"another ServiceAccount beside the namespace's own",
			plain("serviceAccountName: deployer, serviceAccount: default"), "serviceAccountName deployer"},
		{"the namespace's default ServiceAccount, which has a token where it is named",
			plain("serviceAccountName: default"), "serviceAccountName default"},
		{"the runner's ServiceAccount", plain("serviceAccountName: attempt-runner"),
			"serviceAccountName attempt-runner"},
	}
}
