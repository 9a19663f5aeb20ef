import type { MessageRow } from './page.ts'

/** The log lines of the levels warn and error. Their texts are an interface: alerts and searches depend on them. */
export const LOG_ROWS: readonly MessageRow[] = [
  {
    text: 'server is reachable from other machines without access control',
    cause:
      'The server listens on addresses that other machines reach; `keys` names the settings. There is no access control yet.',
    action: 'Listen on loopback, or put a proxy that authenticates clients in front of it.',
  },
  {
    text: 'fewer HTTP connections than limits.max_connections: raise the limit of open files (ulimit -n)',
    cause: 'The process may open fewer files than `limits.max_connections` needs.',
    action: 'Raise `ulimit -n` or `LimitNOFILE`, or lower `limits.max_connections`.',
  },
  {
    text: 'path of the data directory is too long for the socket of "windlass reload"; use SIGHUP',
    cause: 'The path of a Unix socket has at most 107 bytes.',
    action: 'Send SIGHUP to reload settings, or use a data directory with a shorter path.',
  },
  {
    text: 'evicted blobs to keep disk space free for the journal',
    cause: 'Other programs filled the disk, so the server evicted cached blobs early.',
    action: 'Free disk space, or lower `storage.cas.max_bytes`.',
  },
  {
    text: 'eviction of blobs failed while the disk is nearly full',
    cause: 'Eviction failed; `err` has the reason. All blobs may be in use by unfinished tasks.',
    action: 'Free disk space. If it repeats, restart the server.',
  },
  {
    text: 'no disk space for the journal: refusing tasks until space is free',
    cause: 'The server started on a full disk.',
    action: 'Free disk space. The server opens the journal by itself; no restart is needed.',
  },
  {
    text: 'cannot open the journal',
    cause: 'The journal file is damaged, locked by another server, or not readable by this user; `err` has the reason.',
    action: 'Stop the other server, repair the permissions, or restore the file from a backup.',
  },
  {
    text: 'worker cannot run on this machine, not restarting it',
    cause: 'No runtime works here: `why` names the sysctl, filter or missing program.',
    action: 'Follow the advice in `why`, see the page on isolation, then restart `windlass up`.',
  },
  {
    text: 'worker exited, starting another',
    cause: 'The worker process of `windlass up` exited; `why` has its reason.',
    action: 'Nothing, unless it repeats: then look at the log lines of the worker before it.',
  },
  {
    text: 'gRPC connection closed for abuse',
    cause: 'A client exceeded a limit of HTTP/2, for example of resets or control frames; `flood` names it.',
    action: 'Find the client by its address. For a well-behaved client raise the limit in `[grpc]`.',
  },
  {
    text: 'gRPC handler failed',
    cause: 'A bug of the server; the client got INTERNAL.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'settings not reloaded: nothing was changed',
    cause: 'The settings or certificates that a reload read are wrong; `err` names them.',
    action: 'Correct the file and reload again. The old settings stay in force.',
  },
  {
    text: 'upstream does not answer, skipping it for a while',
    cause: 'Calls to the upstream cache failed. It is skipped for `restMs`.',
    action: 'Check the upstream and the network to it. Builds go on without it.',
  },
  {
    text: 'cannot store a blob of the upstream',
    cause: 'A blob of the upstream was served but not stored; `err` has the reason, usually a full disk.',
    action: 'Check the free disk space and `storage.cas.max_bytes`.',
  },
  {
    text: 'pack file is truncated, blobs at its end are lost',
    cause: 'The file system lost data that it had acknowledged, usually in a power failure.',
    action: 'Check the disk. Clients upload the lost blobs again by themselves.',
  },
  {
    text: 'blobs are corrupt on disk and were dropped',
    cause: 'The content of these blobs no longer matches their digests: the disk or memory is failing.',
    action: 'Check the disk and memory of the machine. Clients upload the blobs again.',
  },
  {
    text: 'background work of the blob store failed',
    cause: 'An operation in the background failed; `doing` names it and `err` has the reason.',
    action: 'Check disk space and permissions of the data directory.',
  },
  {
    text: 'self-test of languages failed to run',
    cause: 'The self-test of languages could not run on this worker; `err` has the reason.',
    action: 'Check that the worker can open rooms: `windlass languages` on the same machine.',
  },
  {
    text: 'language is installed but its self-test failed',
    cause: 'The programs of a language are installed, but its self-test failed; `what` has the output.',
    action: 'Repair or remove the installation; the worker does not offer the language until then.',
  },
  {
    text: 'cannot renew the inputs of queued actions',
    cause: 'The server could not renew the use time of inputs that queued actions need.',
    action: 'Check the disk. If an input is evicted, the client uploads it again.',
  },
  {
    text: 'http cache response aborted',
    cause: 'The client closed the connection, or the blob could not be read to its end.',
    action: 'Nothing, unless `err` names the disk.',
  },
  {
    text: 'http cache request failed',
    cause: 'A bug or a failing disk; the client got status 500.',
    action: 'Look at `err`; report a bug as an issue.',
  },
  {
    text: 'http request failed',
    cause: 'A bug of the server; the client got status 500.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'judge0 request failed',
    cause: 'A bug in the Judge0 interface; the client got status 500.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'not cancelled',
    cause: 'A task whose Piston client went away could not be cancelled; it runs to its end or limit.',
    action: 'Nothing; `windlass task ID --cancel` ends it early.',
  },
  {
    text: 'piston request failed',
    cause: 'A bug in the Piston interface; the client got status 500.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'websocket failed',
    cause: 'A bug in a WebSocket interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'artifact response aborted',
    cause: 'The client closed the connection, or the output file could not be read to its end.',
    action: 'Nothing, unless `err` names the disk.',
  },
  {
    text: 'code api request failed',
    cause: 'A bug of the server; the client got code 50001.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'cannot cancel an interactive task after its client left',
    cause: 'An interactive task whose client went away could not be cancelled; it runs to its limit.',
    action: 'Nothing; `windlass task ID --cancel` ends it early.',
  },
  {
    text: 'piston session failed',
    cause: 'A bug in the interactive Piston interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'interactive session failed',
    cause: 'A bug in the interactive interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'cannot handle a message of a worker',
    cause: 'A message of a WebSocket worker could not be handled; the worker got an error.',
    action: 'Look at `err`. For a worker that you wrote, compare with the page on WebSocket workers.',
  },
  {
    text: 'cannot record the result of a worker',
    cause: 'The server could not record the result that a WebSocket worker reported.',
    action: 'Check the journal and the disk. The worker reports it again.',
  },
  {
    text: 'cannot sync the outputs of a result to disk',
    cause: 'Outputs of a finished task could not be synced; a power failure now may lose them.',
    action: 'Check the disk.',
  },
  {
    text: 'cannot store a result in the action cache',
    cause: 'The action cache refused or failed; the task itself is finished.',
    action: 'Check the disk. The next identical action runs again.',
  },
  {
    text: 'cannot record a cache hit',
    cause: 'The journal failed; the client still got the cached result.',
    action: 'Check the disk. The task is missing from `windlass tasks`.',
  },
  {
    text: 'attempt failed, task will be retried',
    cause: 'The worker was lost or could not run the command; `what` has the reason. The task is retried.',
    action: 'Nothing for a single one. If one `worker` repeats, look at its log.',
  },
  {
    text: 'task failed',
    cause: 'The grid gave up a task; `why` and `what` have the reason.',
    action: '`windlass task ID --why` prints the history of the task.',
  },
  {
    text: 'scheduler failed',
    cause: 'A bug of the scheduler.',
    action: 'Report it as an issue, with the stack in `error`.',
  },
  {
    text: 'cannot record the property names that workers offer',
    cause:
      'The journal failed. After a restart, tasks that need these properties may be refused until a worker registers.',
    action: 'Check the disk.',
  },
  {
    text: 'cannot read the record of a task',
    cause: 'The record of a task is damaged or from a newer version. The task ends as failed.',
    action: 'Do not start an older version on this data. Otherwise check the disk.',
  },
  {
    text: 'cannot end a task whose record is unreadable',
    cause: 'The journal failed while the server ended such a task.',
    action: 'Check the disk; the server tries again at its next start.',
  },
  {
    text: 'server closed before the end of a task was recorded',
    cause: 'The server stopped before the end of this task was recorded.',
    action: 'Nothing: after the restart the task runs again.',
  },
  {
    text: 'journal rejected the facts of a task',
    cause: 'The journal rejected the record of one task, for example because it is too large.',
    action: 'Look at `error`. The task ends as failed.',
  },
  {
    text: 'journal write failed, retrying',
    cause: 'Writes to the journal fail, usually because the disk is full. They are retried; new tasks wait.',
    action: 'Free disk space. Work goes on by itself.',
  },
  {
    text: 'cannot delete old tasks',
    cause: 'The journal failed while it deleted old tasks.',
    action: 'Check the disk; it is tried again.',
  },
  {
    text: 'cannot pin all outputs of earlier tasks',
    cause: 'Some outputs of finished tasks were already evicted when the server started.',
    action: 'Raise `storage.cas.max_bytes` if results must be kept longer.',
  },
  {
    text: 'callback of a door failed',
    cause: 'A bug in a protocol front end.',
    action: 'Report it as an issue, with the stack in `error`.',
  },
  {
    text: 'cannot read the action cache',
    cause: 'Reading the action cache failed; the action runs instead.',
    action: 'Check the disk, and the upstream where there is one.',
  },
  {
    text: 'cannot prepare or record a callback',
    cause: 'The record of callbacks could not be written.',
    action: 'Check the disk. The callback may not be delivered.',
  },
  {
    text: 'callback not delivered, giving up',
    cause: 'The receiver of a callback did not accept it in all attempts.',
    action: 'Check the receiver. The result is still available by the task id.',
  },
  {
    text: 'cannot prepare a callback',
    cause: 'The result of a task could not be read for its callback.',
    action: 'Look at `err`. The result is still available by the task id.',
  },
  {
    text: 'cannot resume a callback after a restart',
    cause: 'After a restart, the task of a pending callback was not found or could not be read.',
    action: 'Nothing; the task is older than the retention of tasks.',
  },
  {
    text: 'workflow driver thread crashed',
    cause: 'A bug of the workflow driver; the workflow ends as failed.',
    action: 'Report it as an issue, with the stack in `err` and the workflow.',
  },
  {
    text: 'cannot record the end of a workflow',
    cause: 'The record of a workflow could not be written.',
    action: 'Check the disk. After a restart the workflow continues from its last recorded step.',
  },
  {
    text: 'cannot pin the outputs of a workflow',
    cause: 'Some outputs of a finished workflow were already evicted.',
    action: 'Raise `storage.cas.max_bytes` if outputs must be kept longer.',
  },
  {
    text: 'waiting for the store of the server',
    cause: 'The worker started before its server, or the server has a full disk.',
    action: 'Nothing; the worker connects by itself. Check `worker.server_url` if it lasts.',
  },
]
