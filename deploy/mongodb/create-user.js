/**
 * Run by the image of MongoDB once, when its volume is empty: the user that gateway and worker have. It reads, writes and
 * indexes their database and nothing else; the root user is the operator's alone.
 */
const { MONGODB_DATABASE, MONGODB_PASSWORD } = process.env;
db.getSiblingDB('admin').createUser({
  user: 'tamis',
  pwd: MONGODB_PASSWORD,
  roles: [
    { role: 'readWrite', db: MONGODB_DATABASE },
    { role: 'dbAdmin', db: MONGODB_DATABASE },
  ],
});
