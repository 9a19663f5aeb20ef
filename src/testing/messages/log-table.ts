import type { MessageRow } from './page.ts'

/** The log lines of the levels warn and error. Their texts are an interface: alerts and searches depend on them. */
export const LOG_ROWS: readonly MessageRow[] = [
  {
    text: 'reachable from other machines without authentication',
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
    text: 'data directory path is too long for "windlass reload"; send SIGHUP instead',
    cause: 'The path of a Unix socket has at most 107 bytes.',
    action: 'Send SIGHUP to reload settings, or use a data directory with a shorter path.',
  },
  {
    text: 'evicted blobs to keep disk space for the journal',
    cause: 'Other programs filled the disk, so the server evicted cached blobs early.',
    action: 'Free disk space, or lower `storage.cas.max_bytes`.',
  },
  {
    text: 'cannot evict blobs although the disk is nearly full',
    cause: 'Eviction failed; `err` has the reason. All blobs may be in use by unfinished tasks.',
    action: 'Free disk space. If it repeats, restart the server.',
  },
  {
    text: 'no disk space for the journal: tasks are refused until space is free',
    cause: 'The server started on a full disk.',
    action: 'Free disk space. The server opens the journal by itself; no restart is needed.',
  },
  {
    text: 'cannot open the journal',
    cause: 'The journal file is damaged, locked by another server, or not readable by this user; `err` has the reason.',
    action: 'Stop the other server, repair the permissions, or restore the file from a backup.',
  },
  {
    text: 'worker cannot run on this machine, not restarted',
    cause: 'No runtime works here: `why` names the sysctl, filter or missing program.',
    action: 'Follow the advice in `why`, see the page on isolation, then restart `windlass up`.',
  },
  {
    text: 'worker exited, restarting it',
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
    text: 'upstream unreachable, not used until it recovers',
    cause: 'Calls to the upstream cache failed. It is skipped for `restMs`.',
    action: 'Check the upstream and the network to it. Builds go on without it.',
  },
  {
    text: 'cannot store a blob from the upstream',
    cause: 'A blob of the upstream was served but not stored; `err` has the reason, usually a full disk.',
    action: 'Check the free disk space and `storage.cas.max_bytes`.',
  },
  {
    text: 'a pack file is truncated: blobs at its end are lost',
    cause: 'The file system lost data that it had acknowledged, usually in a power failure.',
    action: 'Check the disk. Clients upload the lost blobs again by themselves.',
  },
  {
    text: 'corrupt blobs removed',
    cause: 'The content of these blobs no longer matches their digests: the disk or memory is failing.',
    action: 'Check the disk and memory of the machine. Clients upload the blobs again.',
  },
  {
    text: 'blob store operation failed',
    cause: 'An operation in the background failed; `doing` names it and `err` has the reason.',
    action: 'Check disk space and permissions of the data directory.',
  },
  {
    text: 'language self-tests failed to run',
    cause: 'The self-test of languages could not run on this worker; `err` has the reason.',
    action: 'Check that the worker can open rooms: `windlass languages` on the same machine.',
  },
  {
    text: 'a language is here, and does not work',
    cause: 'The programs of a language are installed, but its self-test failed; `what` has the output.',
    action: 'Repair or remove the installation; the worker does not offer the language until then.',
  },
  {
    text: 'the inputs of waiting actions could not be touched',
    cause: 'The server could not renew the use time of inputs that queued actions need.',
    action: 'Check the disk. If an input is evicted, the client uploads it again.',
  },
  {
    text: 'http cache answer broken off',
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
    text: 'a request in the words of Judge0 failed',
    cause: 'A bug in the Judge0 interface; the client got status 500.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'not cancelled',
    cause: 'A task whose Piston client went away could not be cancelled; it runs to its end or limit.',
    action: 'Nothing; `windlass task ID --cancel` ends it early.',
  },
  {
    text: 'a request in the words of Piston failed',
    cause: 'A bug in the Piston interface; the client got status 500.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'websocket failed',
    cause: 'A bug in a WebSocket interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'an artifact was broken off',
    cause: 'The client closed the connection, or the output file could not be read to its end.',
    action: 'Nothing, unless `err` names the disk.',
  },
  {
    text: 'a request of the code API failed',
    cause: 'A bug of the server; the client got code 50001.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'a program that nobody types to any more could not be ended',
    cause: 'An interactive task whose client went away could not be cancelled; it runs to its limit.',
    action: 'Nothing; `windlass task ID --cancel` ends it early.',
  },
  {
    text: 'a session in the words of Piston failed',
    cause: 'A bug in the interactive Piston interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'an interactive session failed',
    cause: 'A bug in the interactive interface; the connection was closed.',
    action: 'Report it as an issue, with the stack in `err`.',
  },
  {
    text: 'message of a worker failed',
    cause: 'A message of a WebSocket worker could not be handled; the worker got an error.',
    action: 'Look at `err`. For a worker that you wrote, compare with the page on WebSocket workers.',
  },
  {
    text: 'result of a worker was not taken',
    cause: 'The server could not record the result that a WebSocket worker reported.',
    action: 'Check the journal and the disk. The worker reports it again.',
  },
  {
    text: 'the blobs of a result could not be brought to the disk',
    cause: 'Outputs of a finished task could not be synced; a power failure now may lose them.',
    action: 'Check the disk.',
  },
  {
    text: 'a result could not be put into the cache',
    cause: 'The action cache refused or failed; the task itself is finished.',
    action: 'Check the disk. The next identical action runs again.',
  },
  {
    text: 'a cache hit could not be recorded',
    cause: 'The journal failed; the client still got the cached result.',
    action: 'Check the disk. The task is missing from `windlass tasks`.',
  },
  {
    text: 'an attempt came to nothing',
    cause: 'The worker was lost or could not run the command; `what` has the reason. The task is retried.',
    action: 'Nothing for a single one. If one `worker` repeats, look at its log.',
  },
  {
    text: 'a task failed',
    cause: 'The grid gave up a task; `why` and `what` have the reason.',
    action: '`windlass task ID --why` prints the history of the task.',
  },
  {
    text: 'the scheduler failed',
    cause: 'A bug of the scheduler.',
    action: 'Report it as an issue, with the stack in `error`.',
  },
  {
    text: 'property names that are offered could not be recorded',
    cause:
      'The journal failed. After a restart, tasks that need these properties may be refused until a worker registers.',
    action: 'Check the disk.',
  },
  {
    text: 'what is on record of a task cannot be read',
    cause: 'The record of a task is damaged or from a newer version. The task ends as failed.',
    action: 'Do not start an older version on this data. Otherwise check the disk.',
  },
  {
    text: 'a task that cannot be read could not be ended',
    cause: 'The journal failed while the server ended such a task.',
    action: 'Check the disk; the server tries again at its next start.',
  },
  {
    text: 'an end came too late for the journal',
    cause: 'The server stopped before the end of this task was recorded.',
    action: 'Nothing: after the restart the task runs again.',
  },
  {
    text: 'facts of a task cannot be recorded',
    cause: 'The journal rejected the record of one task, for example because it is too large.',
    action: 'Look at `error`. The task ends as failed.',
  },
  {
    text: 'the journal does not take facts',
    cause: 'Writes to the journal fail, usually because the disk is full. They are retried; new tasks wait.',
    action: 'Free disk space. Work goes on by itself.',
  },
  {
    text: 'finished tasks could not be forgotten',
    cause: 'The journal failed while it deleted old tasks.',
    action: 'Check the disk; it is tried again.',
  },
  {
    text: 'outputs of before the start could not all be held',
    cause: 'Some outputs of finished tasks were already evicted when the server started.',
    action: 'Raise `storage.cas.max_bytes` if results must be kept longer.',
  },
  {
    text: 'a door failed in a call from the engine',
    cause: 'A bug in a protocol front end.',
    action: 'Report it as an issue, with the stack in `error`.',
  },
  {
    text: 'the cache could not be asked',
    cause: 'Reading the action cache failed; the action runs instead.',
    action: 'Check the disk, and the upstream where there is one.',
  },
  {
    text: 'a callback could not be prepared or recorded',
    cause: 'The record of callbacks could not be written.',
    action: 'Check the disk. The callback may not be delivered.',
  },
  {
    text: 'a callback was given up',
    cause: 'The receiver of a callback did not accept it in all attempts.',
    action: 'Check the receiver. The result is still available by the task id.',
  },
  {
    text: 'a callback could not be made ready',
    cause: 'The result of a task could not be read for its callback.',
    action: 'Look at `err`. The result is still available by the task id.',
  },
  {
    text: 'a callback could not be taken up again',
    cause: 'After a restart, the task of a pending callback was not found or could not be read.',
    action: 'Nothing; the task is older than the retention of tasks.',
  },
  {
    text: 'a submission broke the one who drove it',
    cause: 'A bug of the workflow driver; the workflow ends as failed.',
    action: 'Report it as an issue, with the stack in `err` and the workflow.',
  },
  {
    text: 'the end of a submission is not on record',
    cause: 'The record of a workflow could not be written.',
    action: 'Check the disk. After a restart the workflow continues from its last recorded step.',
  },
  {
    text: 'outputs of a submission could not be held',
    cause: 'Some outputs of a finished workflow were already evicted.',
    action: 'Raise `storage.cas.max_bytes` if outputs must be kept longer.',
  },
  {
    text: 'waiting for the server: its store does not answer yet',
    cause: 'The worker started before its server, or the server has a full disk.',
    action: 'Nothing; the worker connects by itself. Check `worker.server_url` if it lasts.',
  },
]
