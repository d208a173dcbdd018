"""What the kernel refuses to this process and its children: sockets and other ways out (seccomp), files (Landlock)."""
