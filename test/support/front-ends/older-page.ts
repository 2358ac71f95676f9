import type { Page, PageCall } from './replay-calls.js';

const ME: PageCall = {
  method: 'GET',
  path: '/users/info',
  status: 200,
  reads: {
    id: 'integer',
    display_name: 'string|null',
    is_admin: 'boolean',
    memberships: 'array',
    file_count: 'integer',
    pending_files: 'integer',
    total_files: 'integer',
    file_quota: 'integer',
  },
  keeps: { me: 'id' },
};

/** New partitions are named in the upload itself; files go one after the other. */
function upload(fileId: string): PageCall {
  return {
    method: 'POST',
    path: `/indexer/partition/{partition}/file/${fileId}`,
    form: {
      file: `# Smoke\n\nThe file ${fileId} of {partition}.`,
      metadata: '{"mimetype": "application/octet-stream", "created_at": "2026-01-02"}',
    },
    filename: 'smoke.md',
    status: 201,
    reads: { task_status_url: 'string' },
    settles: true,
  };
}

/**
 * The indexer front end, older than 2.3: its calls in its order, and the fields it reads (wire contract, section 5).
 */
export const olderPage: Page = {
  name: 'older page',
  sendsJsonType: false,
  calls: [
    { method: 'GET', path: '/health_check', status: 200 },
    ME,
    upload('one'),
    upload('two'),
    {
      // It may send a `status` that nothing reads: finished tasks must stay listed.
      method: 'GET',
      path: '/queue/tasks?status=ACTIVE',
      status: 200,
      reads: {
        'tasks[].task_id': 'string',
        'tasks[].state': 'string',
        'tasks[].details.file_id': 'string',
        'tasks[].details.partition': 'string',
        'tasks[].details.metadata': 'object',
        'tasks[].url': 'string',
      },
      finds: { 'tasks[state=COMPLETED].details.partition': '{partition}' },
    },
    {
      method: 'GET',
      path: '/partition/',
      status: 200,
      reads: { 'partitions[partition={partition}].created_at': 'date' },
      finds: { 'partitions[partition={partition}].file_count': '2' },
    },
    {
      method: 'GET',
      path: '/partition/{partition}',
      status: 200,
      reads: {
        'files[].file_id': 'string',
        'files[].filename': 'string',
        'files[].link': 'string',
        'files[].partition': 'string',
        'files[].source': 'string',
        'files[].created_at': 'date',
        'files[].indexed_at': 'date',
        'files[].file_size': 'string',
      },
    },
    {
      method: 'GET',
      path: '/partition/{partition}/file/one',
      status: 200,
      reads: { 'metadata.page': 'number', 'documents[].link': 'string' },
      keepsLastStep: { extract: 'documents[].link' },
    },
    {
      method: 'GET',
      path: '/extract/{extract}',
      status: 200,
      reads: {
        page_content: 'string',
        'metadata._id': 'string',
        'metadata.partition': 'string',
        'metadata.file_id': 'string',
        'metadata.filename': 'string',
        'metadata.page': 'number',
        'metadata.page_sep': 'string',
        'metadata.source': 'string',
      },
    },
    {
      method: 'GET',
      path: '/actors/',
      status: 200,
      reads: {
        'actors[].actor_id': 'string',
        'actors[].namespace': 'string',
        'actors[].name': 'string',
        'actors[].class_name': 'string',
        'actors[].state': 'string',
      },
    },
    { method: 'POST', path: '/actors/TaskStateManager/restart', status: 200 },
    { method: 'DELETE', path: '/indexer/partition/{partition}/file/one', status: 204 },
    { method: 'DELETE', path: '/partition/{partition}', status: 204 },
    {
      method: 'POST',
      path: '/users/{me}/regenerate_token',
      status: 200,
      reads: { token: 'string' },
      keeps: { token: 'token' },
    },
    ME,
  ],
};
