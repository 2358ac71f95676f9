import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import org.h2.mvstore.MVStore;

/**
 * The server's store on disk with indexes that are used. The server itself takes every index that is not unique for
 * granted and ignores it, and uses a unique one only for a query of exactly its fields; all else reads the whole
 * collection.
 */
final class IndexedBackend extends H2Backend {
  IndexedBackend(MVStore store) {
    super(store);
  }

  @Override
  protected MongoDatabase openOrCreateDatabase(String name) {
    return new Database(name);
  }

  private final class Database extends H2Database {
    Database(String name) {
      super(name, getMvStore(), getCursorRegistry());
    }

    /** The maps are those that H2Database itself would open. */
    @Override
    protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
      String place = getFullCollectionNamespace(name);
      MVStore store = getMvStore();
      return new IndexedCollection(
          this, name, options, store.openMap("databases." + place), store.openMap("meta." + place), cursorRegistry);
    }
  }
}
