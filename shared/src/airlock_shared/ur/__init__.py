"""Uniform Resources (BCR-2020-005): documents as short texts that fit QR codes, and that may come in any order.

Pure: no file, no camera, no clock. Everything that a stranger can put before the camera is bounded before anything is
allocated for it.
"""
