import type { MessageRow } from './page.ts'

/** The errors that end `windlass server`, `up` and `worker` at their start, or that a command prints when it connects. */
export const ERROR_ROWS: readonly MessageRow[] = [
  {
    text: 'cannot read …: …',
    cause: 'The file that `--config` names is absent or not readable, or is no TOML.',
    action: 'Correct the path or the line that the message names.',
  },
  {
    text: '… exists and is not a socket',
    cause: 'An address `unix:/path` names an ordinary file.',
    action: 'Choose another path, or delete the file.',
  },
  {
    text: 'another program is listening on unix:…',
    cause: 'A server is already running on this socket.',
    action: 'Stop it, or choose another path.',
  },
  {
    text: 'nothing was changed: …',
    cause: '`windlass reload` read wrong settings or certificates. The old ones stay in force.',
    action: 'Correct what the message names and reload again.',
  },
  {
    text: '…: … is not an address',
    cause: 'A listening address is neither `host:port` nor `unix:/path`.',
    action: 'Correct the flag or setting that the message names.',
  },
  {
    text: '--action-digest: … is not hash/size',
    cause: '`windlass worker execute` takes a digest such as `e3b0…/142`.',
    action: 'Copy the digest from the client or from `windlass task`.',
  },
  {
    text: '--from: … is no folder',
    cause: 'The root file system for a language is absent.',
    action: 'Name an existing folder.',
  },
  {
    text: '--from: the whole machine is what rooms see without one',
    cause: '`--from /` has no effect: rooms see the programs of the machine anyway.',
    action: 'Leave the flag out.',
  },
  {
    text: '--from: rooms belong to another user, who cannot get past …',
    cause: 'Rooms run as another user, which may not enter a parent of that folder.',
    action: '`chmod o+x` the folder that the message names, or move the root file system.',
  },
  {
    text: 'the build was stopped',
    cause: 'A signal ended the build of a language.',
    action: 'Start it again; finished parts are kept.',
  },
  {
    text: 'worker.languages: there is no language …',
    cause: 'The setting names an unknown language.',
    action: '`windlass languages` lists the names.',
  },
  {
    text: 'worker.host.first_room_user: … to … overlap with ids in … or …: choose another range',
    cause: 'The user ids of rooms belong to users of the machine or of containers.',
    action: 'Set `worker.host.first_room_user` to the start of 4096 free ids.',
  },
  {
    text: 'the … backend does not work here: …',
    cause: 'The worker tried a room at its start and it failed, for the reason that follows.',
    action: 'Follow the advice of the message; the page on isolation has the requirements.',
  },
  {
    text: '…: … is none of http://host:port, https://host:port, grpc(s)://host:port and unix:/path',
    cause: 'The address of the server for a worker is misspelt.',
    action: 'Correct `worker.server_url` or `--server-url`.',
  },
  {
    text: 'worker.host.user: only a worker that is root can run commands as another user',
    cause: 'The setting needs root.',
    action: 'Start the worker as root, or remove the setting.',
  },
  {
    text: 'worker.host.user: there is no user … in …',
    cause: 'The user of the setting is absent from the password file.',
    action: 'Create the user, or name another.',
  },
  {
    text: 'worker.host.work_dir: commands run as user …, who cannot get to …, since … is closed to others. Choose another folder, open that one (chmod o+x), or let commands run as root (worker.host.user = "0")',
    cause: 'The user of rooms may not enter a parent of the worker folder.',
    action: 'One of the three that the message lists; the first is the safest.',
  },
  {
    text: '… is owned or writable by another user: set worker.host.work_dir to a folder of this user',
    cause: 'Another user, or a running worker, owns the folder.',
    action: 'Set `worker.host.work_dir` to a folder of its own for each worker.',
  },
  {
    text: '…: … is none of grpc://host:port, grpcs://host:port, http://host:port, https://host:port and unix:/path',
    cause: 'The address of a server is misspelt.',
    action: 'Correct `--server`, `--target` or `WINDLASS_SERVER`.',
  },
  {
    text: '--ca, --cert and --key are for grpcs:// and https:// servers',
    cause: 'Certificates were named for an address without TLS.',
    action: 'Use `grpcs://` or `https://`, or leave the flags out.',
  },
  {
    text: '…: … is not name=value',
    cause: 'A flag such as `--header` or `--env` lacks an equals sign.',
    action: 'Write `name=value`.',
  },
  {
    text: '--instance: the name …',
    cause: 'The name of an instance has characters or segments that REAPI does not permit.',
    action: 'Use letters, digits and `/` between segments, or leave the flag out.',
  },
]
