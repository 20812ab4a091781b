"""Guest kernels: User-Mode Linux for runs on the virtual clock, built on this machine, once for each user.

Linux is under the GPL. This package has what is ours: a configuration, changes of the source, and the code
that applies them. No kernel, and no source of one, is part of Longhaul.
"""
