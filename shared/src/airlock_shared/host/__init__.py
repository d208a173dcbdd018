"""All that touches the machine: files, settings, the disk, a camera, a browser."""
