package main

// apiServerFlags start a kube-apiserver that is as in production, RBAC and all, but for what needs
// other machines.
func apiServerFlags(files files, etcd, ip, port string) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + ip,
		"--advertise-address=" + ip,
		"--secure-port=" + port,
		"--cert-dir=" + files.certificates, // no certificate there: it makes one and trusts itself
		"--token-auth-file=" + files.tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + files.serviceAccountKey,
		"--service-account-signing-key-file=" + files.serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address is refused as that of the service "kubernetes".
		"--endpoint-reconciler-type=none",
		// No controller makes the service account "default", without which no pod would be admitted.
		"--disable-admission-plugins=ServiceAccount",
		"--profiling=false",
		"-v=0",
	}
}
