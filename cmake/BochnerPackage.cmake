# Debian package of the commands with documents and examples:
#   cmake --preset package && cmake --build --preset package --target package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bochner)
set(CPACK_PACKAGE_VENDOR bochner)
set(CPACK_PACKAGE_CONTACT "the authors of bochner <bochner@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "train long-sequence models whose attention kernels are learned")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "Linear attention over random features of a spectral density that the training shapes, state
spaces and long convolutions, for texts, series, events, fields and images, in runs that resume bit for bit. Built for
processors of ${BOCHNER_ARCH}.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

# The package has no libraries and headers.
set(CPACK_COMPONENTS_ALL command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME bochner)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin")  # loaded under mpirun only
include(CPack)
