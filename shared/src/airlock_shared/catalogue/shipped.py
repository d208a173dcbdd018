"""The fingerprint of what ships, which a deployment without a profile means. When it changes, people pin again."""

SHIPPED = "49dc17b62891dbaac683ace7a1eb9c6f3a9d32b90756184253e22ea4d34d890d"  # of profile.shipped()
FIRST = "49dc17b62891dbaac683ace7a1eb9c6f3a9d32b90756184253e22ea4d34d890d"  # an older pin, without a record, means this
