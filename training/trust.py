"""Trust in a folder: nobody else may have written what is in it."""

import os
import stat
import sys
from pathlib import Path

from vigym.engine.errors import InputError

ADMINISTRATOR = 0  # number of the user who may write everything


def require_own(folder: Path, reason: str) -> None:
    """InputError, with the owner and what to do, if others could have changed the folder or anything in it.

    reason: what would happen with their files
    """
    if (doubt := first_doubt(folder)) is not None:
        raise InputError(
            f"{doubt}, and {reason}: if you trust all who can write there, add --trust; else copy the folder only from "
            "somebody whom you trust, or start a training of your own"
        )


def require_no_links(folder: Path) -> None:
    """InputError if a link in the folder would let a training write elsewhere."""
    if (link := next((path for path in folder.rglob("*") if path.is_symlink()), None)) is not None:
        raise InputError(f"{link} is a link, through which a training would write to {os.readlink(link)}: add --trust")


def first_doubt(folder: Path) -> str | None:
    """The first file or folder that others could have written, in words; None if there is none.

    Others are all but the user and the system's administrator. Groups without others do not count: many systems give
    each user one.
    """
    if sys.platform == "win32":  # no such owners and permissions
        return None
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        if status.st_uid not in (ADMINISTRATOR, os.getuid()):
            return f"{path} belongs to {user_name(status.st_uid)}"
        if stat.S_ISLNK(status.st_mode):
            return f"{path} is a link to {os.readlink(path)}, which may be somebody else's"
        if status.st_mode & stat.S_IWOTH:
            return f"{path}, of {user_name(status.st_uid)}, can be written by everybody (chmod -R o-w takes that back)"
        if status.st_mode & stat.S_IWGRP and not is_private(status.st_gid):
            return (
                f"{path}, of {user_name(status.st_uid)}, can be written by the group {group_name(status.st_gid)} "
                "(chmod -R g-w takes that back)"
            )
    return None


def user_name(uid: int) -> str:
    """The user's name, or the number."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def group_name(gid: int) -> str:
    """The group's name, or the number."""
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def is_private(gid: int) -> bool:
    """Return whether nobody but the user is in a group, or the administrator."""
    import grp
    import pwd

    try:
        members = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(gid).gr_mem}
    except KeyError:  # unknown here: of another machine
        return False
    members |= {user.pw_uid for user in pwd.getpwall() if user.pw_gid == gid}
    return members <= {ADMINISTRATOR, os.getuid()}
